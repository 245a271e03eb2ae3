// The repository's own TypeScript files, for tests that read code.

export interface SourceFile {
  /** From the top of the repository, with `/`. */
  readonly path: string;
  readonly url: URL;
  readonly text: string;
}

export const repository = new URL("../../", import.meta.url);

/** Every `.ts` and `.tsx` file of main.ts, routes/, lib/ and tests/, sorted by path. */
export async function sourceFiles(): Promise<SourceFile[]> {
  const paths = ["main.ts"];
  for (const folder of ["routes/", "lib/", "tests/"]) await collect(folder, paths);
  return await Promise.all(
    paths.sort().map(async (path) => {
      const url = new URL(path, repository);
      return { path, url, text: await Deno.readTextFile(url) };
    }),
  );
}

async function collect(folder: string, paths: string[]): Promise<void> {
  for await (const entry of Deno.readDir(new URL(folder, repository))) {
    if (entry.isDirectory) await collect(`${folder}${entry.name}/`, paths);
    else if (/\.tsx?$/.test(entry.name)) paths.push(`${folder}${entry.name}`);
  }
}
