// Gives the work of all databases to a few engine children: each runs a frame at a time, reads of others may wait behind it.
import { type ChildSlot, closeInAll, closeNext, type LaneFlight, newFlight, newSlot } from "./child_slot.ts";
import { ChildStarts, type ChildStartsOptions, restartNeeded } from "./child_starts.ts";
import { tellsDamage } from "../files/database_states.ts";
import type { DatabaseLanes } from "../lanes/database_lanes.ts";
import { EngineChild } from "./engine_child.ts";
import type { EngineCounts } from "./engine_counts.ts";
import type { ReplyFrame } from "../frames/reply_frames.ts";
import type { EngineProcessOptions } from "./engine_process.ts";
import { holdsWriteSlot, isLog } from "../lanes/jobs.ts";
import { HomeChildren } from "./home_children.ts";
import { runsInLentRoom } from "./disk_room.ts";
import { recoverFlight, returnBehind, returnFlight } from "./recover_flight.ts";
import { ChildShares, LONG_FLIGHT_MS, noteTimes } from "./child_shares.ts";
import { settleGroup, settleTask } from "./settle_group.ts";
import { requestOf } from "./request_of.ts";
import { groupsAtOnce, joinTrain, leaveTrain, takeBackBehind } from "./read_train.ts";

/** What the scheduler needs of the store. */
export interface SchedulerOptions extends Omit<EngineProcessOptions, "progressPath">, ChildStartsOptions {
  /** Children at most, three or more; each is a process of about 60 MB. */
  readonly maxChildren: number;
  readonly counts: EngineCounts;
}

/** The pool of children and the work that waits for it. */
export class Scheduler {
  readonly slots: ChildSlot[] = [];
  /** Databases with work that waits, in the order in which they get their turn. */
  readonly waiting = new Set<DatabaseLanes>();
  stopping = false;
  /** Set by the store: called when work or closing starts, so that the watchdog polls it. */
  onBusy: () => void = () => {};
  /** Set by the store: a child has found a database's file damaged. */
  onDamage: (databaseId: string) => void = () => {};
  /** Set by the store: a database may have changed, or only rows of its query log (`isLog`). */
  onWrote: (databaseId: string, isLog: boolean) => void = () => {};
  /** Set by the store: gives room back to the disk, if there is some to give. */
  onFull: () => boolean = () => false;
  #frame = 0;
  #pumping = false;
  readonly #starts: ChildStarts;
  readonly shares = new ChildShares(this);
  readonly homes: HomeChildren;

  constructor(readonly options: SchedulerOptions) {
    this.#starts = new ChildStarts(options);
    this.homes = new HomeChildren(this, options.keepBytes);
  }

  /** Call after adding work to a database's lanes. */
  wake(lanes: DatabaseLanes): void {
    this.waiting.add(lanes);
    if (this.#pumping) return;
    if (this.waiting.size === 1 && lanes.isLoneRead) return this.#startWaiting();
    this.#pumping = true;
    // Calls that the event loop has ready arrive here one after the other, and are to travel together.
    setImmediate(() => this.#startWaiting());
  }

  #startWaiting(): void {
    this.#pumping = false;
    this.onBusy();
    this.pump();
  }

  /** Starts whatever can start now; each database gets one turn, and first the one whose slow read is next. */
  pump(): void {
    const first = this.shares.firstForTurn(this.#now());
    if (first) this.#startSlow(first, this.#now());
    for (const lanes of [...this.waiting]) {
      const before = lanes.waiting;
      this.#startWork(lanes);
      if (lanes.waiting > 0 && lanes.waiting === before) continue;
      // It had a turn and goes to the back of the line: one busy database must not take every turn.
      this.waiting.delete(lanes);
      if (lanes.waiting > 0) this.waiting.add(lanes);
    }
  }

  /** Starts one more child; null where none may start. At the bound it ends an idle one for slow work, to start one later. */
  addChild(): ChildSlot | null {
    if (this.stopping) return null;
    if (!this.shares.mayGrow) return this.endChild(this.shares.idleForSlow);
    return this.#starts.start(this.slots.map((slot) => slot.number), ({ path, number }) => {
      const child: EngineChild = new EngineChild({
        ...this.options,
        progressPath: path,
        keepBytes: this.homes.keepBytesOf(number),
        mayServe: () => this.#starts.mayServe(),
        onReply: (frame) => this.#onReply(slot, frame),
        onEnd: () => this.#onEnd(slot),
      });
      const slot = newSlot(child, number, this.#now());
      this.slots.push(slot);
      return slot;
    });
  }

  /** Ends a child that has no work. */
  endChild(slot: ChildSlot | null): null {
    if (slot) slot.leaving = true;
    void slot?.child.finish();
    return null;
  }

  /** Closes a database in every child that may have it open. `sinceMs`: as `toClose` says. */
  async closeEverywhere(databaseId: string, sinceMs = this.#now()): Promise<void> {
    await closeInAll(this, databaseId, sinceMs);
  }

  /** Null: children may start. Else the program's files have changed: children of before `remain`, or `none` is left. */
  get strain(): "remain" | "none" | null {
    if (!this.#starts.restartNeeded) return null;
    return this.slots.some(({ child, leaving }) => child.serves && !leaving) ? "remain" : "none";
  }

  #now(): number {
    return this.options.clock.monotonicMs();
  }

  #startWork(lanes: DatabaseLanes): void {
    const nowMs = this.#now();
    lanes.grantLease();
    const atOnce = groupsAtOnce(this.homes.of(lanes), lanes, { waiting: this.waiting, nowMs });
    for (;;) {
      const next = lanes.startable(nowMs, LONG_FLIGHT_MS, atOnce);
      const slot = next && this.homes.slotFor(lanes, nowMs, next === "read" && !lanes.readsTask);
      const work = slot && lanes.takeWork(nowMs, LONG_FLIGHT_MS, atOnce);
      if (!work) break;
      this.#start(slot, lanes, { work, slow: null, nowMs });
    }
    this.#startSlow(lanes, nowMs);
    if (this.strain === "none") lanes.rejectWaiting(restartNeeded());
  }

  /** Starts slow reads, never in the child that has the database's quick work. */
  #startSlow(lanes: DatabaseLanes, nowMs: number): void {
    if (!lanes.reads.hasSlow || lanes.held) return;
    const { shares } = this;
    const gates = shares.gates(lanes, nowMs);
    for (;;) {
      const free = shares.freeForSlow(this.homes.of(lanes));
      const next = (free || shares.mayGrow) && lanes.reads.takeSlow(nowMs, gates);
      if (!next) return;
      const slot = free ?? this.addChild();
      if (!slot) return lanes.putBack(next.jobs, "read");
      const work = { kind: "read", jobs: next.jobs, logRows: [] } as const;
      this.#start(slot, lanes, { work, slow: next.slow, nowMs });
      this.#keepOneFree();
    }
  }

  /** Lowers the priority of the child of a slow read that goes on. From now on the child takes slow work only. */
  setApart(flight: LaneFlight): void {
    const slot = this.slots.find((one) => one.flight === flight);
    if (!slot || slot.lowered || this.#starts.restartNeeded) return;
    slot.lowered = true;
    takeBackBehind(slot, this.waiting);
    slot.child.lowerPriority();
    this.#keepOneFree();
  }

  /** Starts a child if none is free for quick work. */
  #keepOneFree(): void {
    if (this.shares.free === null) this.addChild();
  }

  #start(
    slot: ChildSlot,
    lanes: DatabaseLanes,
    { work, slow, nowMs }: Pick<LaneFlight, "work" | "slow"> & { readonly nowMs: number },
  ): void {
    this.#frame = (this.#frame + 1) >>> 0;
    const flight = newFlight({ lanes, work, frame: this.#frame, slow, startedMs: nowMs });
    joinTrain(slot, flight);
    slot.lastUsedMs = nowMs;
    slot.dirty = true;
    lanes.flights.add(flight);
    slot.child.send(requestOf(flight));
  }

  #onReply(slot: ChildSlot, frame: ReplyFrame): void {
    this.#starts.worked();
    const flight = slot.flight;
    if (!flight) return this.#closedOne(slot);
    if (tellsDamage(frame.reply)) this.onDamage(flight.lanes.databaseId);
    if (flight.work.kind === "write" && frame.reply.t === "outcomes") {
      flight.answered = frame;
      return;
    }
    this.#land(slot, flight);
    const { work, lanes } = flight;
    if (runsInLentRoom(flight, frame, this.onFull)) return this.#next(slot, lanes);
    this.options.counts.answered(flight, frame);
    if (work.kind === "task") {
      settleTask(work.job, frame);
    } else {
      const answer = frame.reply.t === "committed" ? flight.answered ?? frame : frame;
      lanes.putBack(settleGroup(lanes, work, answer), work.kind);
      if (frame.reply.t === "committed") this.options.counts.committed(flight, slot.lastUsedMs);
      if (work.kind === "read" && answer.reply.t === "outcomes") {
        noteTimes(flight, work.jobs, answer.reply.o, this.#now());
      }
    }
    this.#next(slot, lanes);
  }

  #onEnd(slot: ChildSlot): void {
    this.slots.splice(this.slots.indexOf(slot), 1);
    for (const { closed } of slot.toClose.splice(0)) closed();
    const flight = slot.flight;
    returnBehind(slot, this.waiting);
    const reason = flight?.killed ?? "unexpected";
    const started = reason !== "unexpected" || slot.child.serves;
    if (!started) this.#startFailed();
    if (!flight) return this.pump();
    this.#land(slot, flight);
    if (started) this.options.counts.ended(reason, flight.work.kind);
    if (!slot.child.serves && this.#starts.restartNeeded) returnFlight(flight);
    else recoverFlight(flight, slot.child.remains(flight.frame));
    if (reason === "busy") this.#keepOneFree();
    this.wake(flight.lanes);
  }

  #startFailed(): void {
    this.#starts.failed("ended");
    // The children that are left serve everybody, because no other one may start.
    if (this.#starts.restartNeeded) this.slots.forEach((slot) => slot.lowered = false);
  }

  #land(slot: ChildSlot, flight: LaneFlight): void {
    slot.lastUsedMs = this.#now();
    leaveTrain(slot, flight, slot.lastUsedMs);
    flight.lanes.flights.delete(flight);
    if (holdsWriteSlot(flight)) this.onWrote(flight.lanes.databaseId, isLog(flight));
  }

  #next(slot: ChildSlot, lanes: DatabaseLanes): void {
    if (slot.toClose.length > 0 && slot.flight === null) return closeNext(slot);
    if (lanes.waiting > 0) this.waiting.add(lanes);
    this.pump();
  }

  #closedOne(slot: ChildSlot): void {
    slot.toClose.shift()?.closed();
    if (slot.toClose.length > 0) closeNext(slot);
    else this.pump();
  }
}
