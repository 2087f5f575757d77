import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** A TCP socket that accepts connections. */
export interface ListeningSocket {
  /** Address that it is bound to, as /proc/net/tcp writes it: hexadecimal, each word in the machine's byte order. */
  readonly address: string;
  readonly port: number;
  /** Number by which processes that hold the socket name it. */
  readonly inode: string;
}

/** State LISTEN in /proc/net/tcp (include/net/tcp_states.h). */
const LISTEN = "0A";

/** Finds the sockets that accept connections in the network of a process, by default in that of this one. */
export function listeningSockets(pid: number | "self" = "self"): ListeningSocket[] {
  const lines = ["tcp", "tcp6"].flatMap((table) => readFileSync(`/proc/${pid}/net/${table}`, "utf8").trim().split("\n").slice(1));
  return lines.flatMap((line) => {
    const [, local = "", , state, , , , , , inode = ""] = line.trim().split(/\s+/);
    const [address = "", port = "0"] = local.split(":");
    return state === LISTEN ? [{ address, port: Number.parseInt(port, 16), inode }] : [];
  });
}

/** Gives the inodes of the sockets that a process holds; none when it is gone. */
export function socketsOf(pid: number): string[] {
  const links = found(() => readdirSync(`/proc/${pid}/fd`));
  return links.flatMap((fd) => found(() => /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.slice(1) ?? []));
}

/** Gives nothing where the process or the descriptor is gone. */
function found(read: () => string[]): string[] {
  try {
    return read();
  } catch {
    return [];
  }
}
