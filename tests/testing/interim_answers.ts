// A server that says `100 Continue` again and again before it answers.

/** The answer that is none: what follows is of another protocol. */
export const SWITCHING = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n";

/** Reads the head of a request, sends so many interim answers and then `answer`, whole, and closes. */
export async function answerAfter(connection: Deno.Conn, interim: number, answer: string): Promise<void> {
  using closing = connection;
  await closing.read(new Uint8Array(4096));
  // Whoever has heard enough is gone meanwhile.
  await Promise.resolve(closing.write(
    new TextEncoder().encode("HTTP/1.1 100 Continue\r\n\r\n".repeat(interim) + answer),
  )).catch(() => {});
}
