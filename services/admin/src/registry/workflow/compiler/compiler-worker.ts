import { Worker } from "node:worker_threads";
import type { CompileOutcome, ResolvedRefs, EntityRefs } from "./compile-to-bytes.js";
import { decodeRefs, encodeResolvedRefs, type EncodedRefs, type EncodedTemplates } from "./encoded-source.js";
import type { WorkerResponse, WorkerRequest } from "./steps.js";

/** The bytes are not valid templates; the message has the reason. */
export class MalformedTemplatesError extends Error {
  override readonly name = "MalformedTemplatesError";
}

/** Loads the references of templates. */
export type LoadReferences = (referred: EntityRefs) => Promise<ResolvedRefs>;

export interface CompilerWorkerOptions {
  /** Main module of the thread. */
  readonly module: URL;
  /** Idle time, ms, after which the thread ends and its memory is released. */
  readonly idleMs: number;
  /**
   * Template size, bytes, after which the thread ends as soon as the queue is empty: it may have
   * allocated hundreds of MiB.
   */
  readonly largeBytes: number;
}

interface PendingCompilation {
  readonly templates: EncodedTemplates;
  readonly load: LoadReferences;
  resolve(outcome: CompileOutcome): void;
  reject(error: unknown): void;
}

/**
 * Compiles workflows in a worker thread, so that a graph that takes seconds blocks no other call.
 * Sequential: two large ones in parallel would need twice the memory without finishing sooner.
 */
export class CompilerWorker {
  readonly #options: CompilerWorkerOptions;
  readonly #queue: PendingCompilation[] = [];
  #thread: Worker | undefined;
  #running: PendingCompilation | undefined;
  #idle: NodeJS.Timeout | undefined;
  /** The thread has compiled a large template. */
  #large = false;
  #closed = false;

  constructor(options: CompilerWorkerOptions) {
    this.#options = options;
  }

  /**
   * Rejects when the thread dies, the compiler throws or `load` rejects.
   *
   * @throws MalformedTemplatesError
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
    this.#onExit(thread, new Error("the compiler is closed"));
    for (const pending of this.#queue.splice(0)) pending.reject(new Error("the compiler is closed"));
    await thread?.terminate();
  }

  #next(): void {
    if (this.#running !== undefined) return;
    const next = this.#queue.shift();
    clearTimeout(this.#idle);
    if (next === undefined) {
      if (this.#large) return this.#scheduleStop();
      this.#idle = setTimeout(() => this.#scheduleStop(), this.#options.idleMs);
      this.#idle.unref();
      return;
    }
    this.#running = next;
    this.#thread ??= this.#begin();
    this.#large ||= next.templates.template.length >= this.#options.largeBytes;
    // A transferred copy: the original may be a part of a larger buffer, which would be copied as a
    // whole.
    const template = new Uint8Array(next.templates.template);
    const step: WorkerRequest = { open: { ...next.templates, template } };
    this.#thread.postMessage(step, [template.buffer]);
  }

  #begin(): Worker {
    this.#large = false;
    const thread = new Worker(this.#options.module, { name: "compiler" });
    // The thread does not delay the end of the process.
    thread.unref();
    thread.on("message", (response: WorkerResponse) => {
      if (this.#thread === thread) this.#onResponse(response);
    });
    thread.on("error", (error) => this.#onExit(thread, new Error("the compiler's thread died", { cause: error })));
    thread.on("exit", (code) => this.#onExit(thread, new Error(`the compiler's thread ended with ${code}`)));
    return thread;
  }

  #onResponse(response: WorkerResponse): void {
    const running = this.#running;
    if (running === undefined) return;
    if ("referred" in response) {
      void this.#load(running, response.referred);
      return;
    }
    if ("outcome" in response) running.resolve(response.outcome);
    else if ("malformed" in response) running.reject(new MalformedTemplatesError(response.malformed));
    else running.reject(new Error(`the compiler failed: ${response.fault}`));
    this.#running = undefined;
    this.#next();
  }

  async #load(running: PendingCompilation, referred: EncodedRefs): Promise<void> {
    try {
      const step: WorkerRequest = { compile: encodeResolvedRefs(await running.load(decodeRefs(referred))) };
      if (this.#running === running) this.#thread?.postMessage(step);
    } catch (error) {
      running.reject(error);
      if (this.#running !== running) return;
      this.#running = undefined;
      this.#next();
    }
  }

  /** Rejects the job of a thread that has exited; queued jobs get a new thread. */
  #onExit(thread: Worker | undefined, reason: Error): void {
    if (thread === undefined || this.#thread !== thread) return;
    this.#thread = undefined;
    this.#running?.reject(reason);
    this.#running = undefined;
    if (!this.#closed) this.#next();
  }

  #scheduleStop(): void {
    const thread = this.#thread;
    this.#thread = undefined;
    void thread?.terminate();
  }
}
