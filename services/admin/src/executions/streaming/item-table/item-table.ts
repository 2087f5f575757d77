import { isTerminalNodeEvent, isTerminalTaskEvent } from "@flyte-ts/domain/phase";
import type { Database } from "@flyte-ts/postgres";
import { Code, RpcError } from "@flyte-ts/rpc";
import { notFound } from "../../../platform/index.js";
import { describeNode, type NodeId } from "../../model/identifier.js";
import { nodePhaseOf, taskPhaseOf } from "../../model/phase-name.js";
import { type ArrayAttempt, countEvents, findArrayAttempt, readEventsAfter } from "../../store/attempt/array-attempt.js";
import { readTableExecution } from "../../store/node-table/read.js";
import { TableMessages } from "../node-table/table-messages.js";
import { ItemStates } from "./item-states.js";

/** Identifies the items of a node. */
export interface ItemTableKey {
  readonly node: NodeId;
  /** Number of the array's attempt; undefined: the latest. */
  readonly attempt: number | undefined;
}

/** Events per statement: those of large arrays hold a thousand items each. */
const EVENTS_PER_READ = 20;

/** Items of an attempt of an array node, read from its events. */
export class ItemTable {
  readonly messages = new TableMessages();
  readonly #db: Database;
  readonly #key: ItemTableKey;
  #attempt: ArrayAttempt | undefined;
  #states = new ItemStates(0);
  /** Position of the last event read. */
  #after = -1n;
  #eventsRead = 0;
  #isOver = false;

  constructor(db: Database, key: ItemTableKey) {
    this.#db = db;
    this.#key = key;
  }

  /** True when the attempt, or for the latest attempt the node, has ended and all is read. */
  get isOver(): boolean {
    return this.#isOver;
  }

  get executionId(): bigint | undefined {
    return this.#attempt?.executionId;
  }

  /**
   * Reads the events since the last call; calls `onRows` when rows have changed.
   *
   * @throws RpcError NOT_FOUND for a node without the attempt; UNAVAILABLE when the node has begun
   *   another attempt: the watcher begins with its items anew.
   */
  async read(onRows: () => void): Promise<void> {
    const { node, attempt: number } = this.#key;
    const attempt = await findArrayAttempt(this.#db, node.executionId, { nodeId: node.nodeId, attempt: number });
    if (attempt === undefined) throw notFound(`${describeNode(node)} has no ${number === undefined ? "attempt" : `attempt ${number}`}`);
    if (this.#attempt === undefined) {
      this.messages.setExecution((await readTableExecution(this.#db, node.executionId)).bytes);
      this.#restart(attempt);
    }
    if (this.#attempt !== undefined && this.#attempt.id !== attempt.id)
      throw new RpcError(Code.UNAVAILABLE, `${describeNode(node)} has begun attempt ${attempt.number}; watch its items again`);
    await this.#readEvents(attempt, onRows);
    const hasEnded =
      number === undefined ? isTerminalNodeEvent(nodePhaseOf(attempt.nodePhase)) : isTerminalTaskEvent(taskPhaseOf(attempt.phase));
    if (hasEnded && (await countEvents(this.#db, attempt.id)) !== this.#eventsRead) {
      // An event has arrived late, at a position that has been read.
      this.#restart(attempt);
      await this.#readEvents(attempt, onRows);
    }
    this.#isOver = hasEnded;
  }

  #restart(attempt: ArrayAttempt): void {
    this.#attempt = attempt;
    this.#states = new ItemStates(attempt.createdMs);
    this.#after = -1n;
    this.#eventsRead = 0;
  }

  async #readEvents({ id }: ArrayAttempt, onRows: () => void): Promise<void> {
    for (;;) {
      const events = await readEventsAfter(this.#db, id, { after: this.#after, limit: EVENTS_PER_READ });
      for (const { order, event } of events) {
        this.#states.apply(event);
        this.#after = order;
      }
      this.#eventsRead += events.length;
      if (this.messages.put(this.#states.takeChanged())) onRows();
      if (events.length < EVENTS_PER_READ) return;
    }
  }
}
