import { GraphError } from "../entity/errors.js";
import type { FileStore } from "../file/file.js";

/** Collects the files that the encoding of values has to write. */
export interface Encoding {
  /** Returns the store; throws where files cannot be written, as in a graph. */
  store(): FileStore;
  /** Registers work that must be done before the literals are handed on. */
  later(work: () => Promise<void>): void;
}

/** An encoding that writes files to this store; `finish` waits for all of them. */
export class FileEncoding implements Encoding {
  private readonly pending: (() => Promise<void>)[] = [];

  constructor(private readonly files: FileStore) {}

  store(): FileStore {
    return this.files;
  }

  later(work: () => Promise<void>): void {
    this.pending.push(work);
  }

  async finish(): Promise<void> {
    for (let work = this.pending.shift(); work !== undefined; work = this.pending.shift()) await work();
  }
}

/** An encoding of constants in a graph: files must have an address. */
export const graphEncoding: Encoding = {
  store: () => {
    throw new GraphError("a file or data set in a graph needs an address: give { uri }, or let a task make it");
  },
  later: () => undefined,
};

const NOTHING: FileStore = {
  allocate: (name = "") => `check://${name}`,
  read: () => {
    throw new Error("nothing is read while a value is checked");
  },
  write: () => Promise.resolve(),
  list: () => {
    throw new Error("nothing is listed while a value is checked");
  },
  scratch: () => Promise.reject(new Error("nothing is downloaded while a value is checked")),
};

/** An encoding that writes nothing, to find whether a value can be encoded. */
export function checkOnly(): Encoding {
  return { store: () => NOTHING, later: () => undefined };
}
