// What tests and benchmarks do with the servers that they start as processes.

/** Whether the address answers 2xx by now. */
export async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url);
    await response.body?.cancel();
    return response.ok;
  } catch (error) {
    if (error instanceof TypeError) return false; // not listening yet
    throw error;
  }
}

/** Hands on what a process writes, until it closes the stream. */
export async function collect(
  stream: ReadableStream<Uint8Array>,
  keep: (text: string) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  for await (const chunk of stream) keep(decoder.decode(chunk, { stream: true }));
}
