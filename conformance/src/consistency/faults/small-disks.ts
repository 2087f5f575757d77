import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statfsSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Folders of a stack that get their own disks. */
const DISKS = ["postgres", "nats", "blobs", "cluster", "logs"] as const;
export type Disk = (typeof DISKS)[number];

const SIZE_MIB = 1_024;

/** In-memory disks, one for each folder, that can be filled. */
export interface SmallDisks {
  /** Uses up all free space, including space that is freed later. */
  fill(disk: Disk): void;
  /** Frees the space again. */
  empty(disk: Disk): void;
  stop(): void;
}

/**
 * Links the folders below `folder` to disks. Undefined where this process may not mount: that needs
 * root, and permissions that some containers withhold from root.
 */
export function mountSmallDisks(folder: string): SmallDisks | undefined {
  const place = mkdtempSync(join(tmpdir(), "flyte-ts-disks-"));
  const mounted: string[] = [];
  const stop = () => {
    for (const each of mounted) execFileSync("umount", ["--lazy", each]);
    rmSync(place, { recursive: true, force: true });
  };
  for (const disk of DISKS) {
    const path = join(place, disk);
    mkdirSync(path);
    if (spawnSync("mount", ["-t", "tmpfs", "-o", `size=${SIZE_MIB}m,mode=0700`, "tmpfs", path]).status !== 0) {
      stop();
      return undefined;
    }
    mounted.push(path);
    symlinkSync(path, join(folder, disk));
  }
  const resize = (disk: Disk, size: string) => spawnSync("mount", ["-o", `remount,size=${size}`, join(place, disk)]).status === 0;
  const timers = new Map<Disk, NodeJS.Timeout>();
  const shrink = (disk: Disk): void => {
    const { blocks, bfree, bsize } = statfsSync(join(place, disk));
    // A concurrent write can make the size too small: the next try uses the remaining space.
    if (bfree > 0) resize(disk, `${Math.ceil(((blocks - bfree) * bsize) / 1_024)}k`);
  };
  return {
    fill: (disk) => {
      shrink(disk);
      timers.set(
        disk,
        setInterval(() => shrink(disk), 200),
      );
    },
    empty: (disk) => {
      clearInterval(timers.get(disk));
      timers.delete(disk);
      if (!resize(disk, `${SIZE_MIB}m`)) throw new Error(`the disk of ${disk} cannot be made larger again`);
    },
    stop: () => {
      for (const timer of timers.values()) clearInterval(timer);
      stop();
    },
  };
}
