// The program of the thread that reads long texts for `LongTexts`: it answers each text with what the grammar says of it.
/// <reference lib="deno.worker" />
import { readSyntax } from "../sql/syntax.ts";

self.onmessage = ({ data }: MessageEvent<string>) => self.postMessage(readSyntax(data));
