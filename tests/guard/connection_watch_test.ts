import { assertEquals } from "@std/assert";
import { ConnectionWatch } from "../../lib/guard/connection_watch.ts";

/** A watch and the names of the connections that it has ended, in order. */
function watched(maxOpen = 10) {
  const watch = new ConnectionWatch({ headSweeps: 2, idleSweeps: 5, maxOpen });
  const ended: string[] = [];
  const add = (name: string) => watch.add(() => void ended.push(name));
  const sweep = (times: number) => {
    for (let time = 0; time < times; time++) watch.sweep();
  };
  return { watch, ended, add, sweep };
}

Deno.test("ConnectionWatch ends who asks nothing after the head's time, and who stays silent after the idle time", () => {
  const { watch, ended, add, sweep } = watched();
  add("silent");
  const asked = add("asked");
  asked.begin();
  asked.finish();
  sweep(2);
  assertEquals(ended, []);
  sweep(1);
  assertEquals(ended, ["silent"]);
  sweep(2);
  asked.begin();
  asked.finish();
  sweep(5);
  assertEquals(ended, ["silent"]);
  sweep(1);
  assertEquals([ended, watch.size], [["silent", "asked"], 0]);
});

Deno.test("ConnectionWatch never ends a connection on which one of several requests is being answered", () => {
  const { watch, ended, add, sweep } = watched(1);
  const busy = add("busy");
  busy.begin();
  busy.begin();
  busy.finish();
  sweep(100);
  assertEquals([ended, watch.hasRoom(), watch.endOne()], [[], false, false]);
  busy.finish();
  sweep(5);
  assertEquals(ended, []);
  sweep(1);
  assertEquals(ended, ["busy"]);
});

Deno.test("ConnectionWatch gives the receiver of a large answer its time", () => {
  const { ended, add, sweep } = watched();
  const slow = add("slow");
  slow.begin();
  slow.allow(20);
  slow.finish();
  sweep(25);
  assertEquals(ended, []);
  sweep(1);
  assertEquals(ended, ["slow"]);
});

Deno.test("ConnectionWatch makes room by ending who has asked nothing, then who has been silent longest", () => {
  const { watch, ended, add, sweep } = watched(4);
  const [longest, lately, busy] = [add("longest"), add("lately"), add("busy")];
  for (const one of [longest, lately, busy]) one.begin();
  longest.finish();
  // What is new then has longer than one that has been silent since.
  sweep(4);
  lately.finish();
  assertEquals([watch.hasRoom(), ended], [true, []]);
  add("new");
  for (let more = 0; more < 3; more++) watch.hasRoom() && watch.endOne();
  assertEquals(ended, ["new", "longest", "lately"]);
});

Deno.test("where a request is being answered on each connection, the body that has been on its way for longest gives way", () => {
  let bodies = 1;
  const watch = new ConnectionWatch({ headSweeps: 2, idleSweeps: 5, maxOpen: 1 }, {
    endFirst: () => bodies-- > 0,
    arrived: () => Promise.resolve(),
  });
  watch.add(() => {}).begin();
  assertEquals([watch.hasRoom(), watch.hasRoom(), watch.size], [true, false, 1]);
});
