import { Worker } from "node:worker_threads";
import type { CompileOutcome, References, Referred } from "./compile-to-bytes.js";
import { decodeReferred, encodeReferences, type EncodedReferred, type EncodedTemplates } from "./encoded-source.js";
import type { Reply, Step } from "./steps.js";

/** The bytes are not valid templates; the message has the reason. */
export class MalformedTemplates extends Error {
  override readonly name = "MalformedTemplates";
}

/** Loads the references of templates. */
export type LoadReferences = (referred: Referred) => Promise<References>;

export interface CompileThreadOptions {
  /** Main module of the thread. */
  readonly module: URL;
  /** Idle time, ms, after which the thread ends and its memory is released. */
  readonly idleMs: number;
  /** Template size, bytes, after which the thread ends as soon as the queue is empty: it may have allocated hundreds of MiB. */
  readonly largeBytes: number;
}

interface Waiting {
  readonly templates: EncodedTemplates;
  readonly load: LoadReferences;
  resolve(outcome: CompileOutcome): void;
  reject(error: unknown): void;
}

/**
 * Compiles workflows in a worker thread, so that a graph that takes seconds blocks no other call. Sequential: two large
 * ones in parallel would need twice the memory without finishing sooner.
 */
export class CompileThread {
  readonly #options: CompileThreadOptions;
  readonly #queue: Waiting[] = [];
  #thread: Worker | undefined;
  #running: Waiting | undefined;
  #idle: NodeJS.Timeout | undefined;
  /** The thread has compiled a large template. */
  #large = false;
  #closed = false;

  constructor(options: CompileThreadOptions) {
    this.#options = options;
  }

  /**
   * Rejects when the thread dies, the compiler throws or `load` rejects.
   *
   * @throws MalformedTemplates
   */
  compile(templates: EncodedTemplates, load: LoadReferences): Promise<CompileOutcome> {
    return new Promise((resolve, reject) => {
      if (this.#closed) throw new Error("the compiler is closed");
      this.#queue.push({ templates, load, resolve, reject });
      this.#next();
    });
  }

  /** Rejects queued and running jobs. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#idle);
    const thread = this.#thread;
    this.#lost(thread, new Error("the compiler is closed"));
    for (const waiting of this.#queue.splice(0)) waiting.reject(new Error("the compiler is closed"));
    await thread?.terminate();
  }

  #next(): void {
    if (this.#running !== undefined) return;
    const next = this.#queue.shift();
    clearTimeout(this.#idle);
    if (next === undefined) {
      if (this.#large) return this.#rest();
      this.#idle = setTimeout(() => this.#rest(), this.#options.idleMs);
      this.#idle.unref();
      return;
    }
    this.#running = next;
    this.#thread ??= this.#begin();
    this.#large ||= next.templates.template.length >= this.#options.largeBytes;
    // A transferred copy: the original may be a part of a larger buffer, which would be copied as a whole.
    const template = new Uint8Array(next.templates.template);
    const step: Step = { open: { ...next.templates, template } };
    this.#thread.postMessage(step, [template.buffer]);
  }

  #begin(): Worker {
    this.#large = false;
    const thread = new Worker(this.#options.module, { name: "compiler" });
    // The thread does not delay the end of the process.
    thread.unref();
    thread.on("message", (reply: Reply) => {
      if (this.#thread === thread) this.#answered(reply);
    });
    thread.on("error", (error) => this.#lost(thread, new Error("the compiler's thread died", { cause: error })));
    thread.on("exit", (code) => this.#lost(thread, new Error(`the compiler's thread ended with ${code}`)));
    return thread;
  }

  #answered(reply: Reply): void {
    const running = this.#running;
    if (running === undefined) return;
    if ("referred" in reply) {
      void this.#load(running, reply.referred);
      return;
    }
    if ("outcome" in reply) running.resolve(reply.outcome);
    else if ("malformed" in reply) running.reject(new MalformedTemplates(reply.malformed));
    else running.reject(new Error(`the compiler failed: ${reply.fault}`));
    this.#running = undefined;
    this.#next();
  }

  async #load(running: Waiting, referred: EncodedReferred): Promise<void> {
    try {
      const step: Step = { compile: encodeReferences(await running.load(decodeReferred(referred))) };
      if (this.#running === running) this.#thread?.postMessage(step);
    } catch (error) {
      running.reject(error);
      if (this.#running !== running) return;
      this.#running = undefined;
      this.#next();
    }
  }

  /** Rejects the job of a dead thread; queued jobs get a new one. */
  #lost(thread: Worker | undefined, reason: Error): void {
    if (thread === undefined || this.#thread !== thread) return;
    this.#thread = undefined;
    this.#running?.reject(reason);
    this.#running = undefined;
    if (!this.#closed) this.#next();
  }

  #rest(): void {
    const thread = this.#thread;
    this.#thread = undefined;
    void thread?.terminate();
  }
}
