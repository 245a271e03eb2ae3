// Which files hold tests.

const root = new URL("../../", import.meta.url);

/** Paths of all files of tests apart from the benchmarks', from the top of the repository. */
export async function testFiles(folder = "tests"): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(new URL(folder, root))) {
    const path = `${folder}/${name}`;
    if (isDirectory && path !== "tests/bench") found.push(...await testFiles(path));
    else if (name.endsWith("_test.ts")) found.push(path);
  }
  return found.sort();
}
