// The program of the thread that reads long texts for `LongTexts`: it answers with what the reader makes of each.
/// <reference lib="deno.worker" />
import { type TextReader, textReaders } from "./text_readers.ts";

self.onmessage = ({ data }: MessageEvent<readonly [reader: TextReader, texts: readonly string[]]>) => {
  const [reader, texts] = data;
  self.postMessage(texts.map((text) => textReaders[reader](text)));
};
