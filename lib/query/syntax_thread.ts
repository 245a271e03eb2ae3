// The program of the thread that reads long texts for `LongTexts`: it answers texts with what the grammar says of each.
/// <reference lib="deno.worker" />
import { readSyntax } from "../sql/syntax.ts";

self.onmessage = ({ data }: MessageEvent<readonly string[]>) => self.postMessage(data.map(readSyntax));
