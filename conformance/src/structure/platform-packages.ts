/** Packages of the lock file that hold programs or libraries for one platform. */

/** A package in `package-lock.json`. */
interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly os?: string | readonly string[];
  readonly cpu?: string | readonly string[];
  readonly libc?: string | readonly string[];
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export interface LockFile {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

export const PLATFORMS = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"] as const;
export type Platform = (typeof PLATFORMS)[number];

/**
 * Optional dependencies with which npm installs the programs of a package, one for each platform.
 */
export interface PlatformPackage {
  /** Package with these optional dependencies; "" is the root. */
  readonly owner: string;
  /**
   * Name and version with the integrity that the lock file pins; undefined when none fits the
   * platform.
   */
  readonly packages: Readonly<Record<Platform, string | undefined>>;
}

/**
 * Packages whose programs differ by platform, among those with a linux-x64 variant. Linux means
 * glibc.
 */
export function platformPackages({ packages }: LockFile): PlatformPackage[] {
  return Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) => {
    const found = Object.keys(optionalDependencies).flatMap((name) => {
      const locked = packages[`${path}/node_modules/${name}`] ?? packages[`node_modules/${name}`];
      return locked === undefined ? [] : [{ name, locked }];
    });
    const fitting = (platform: Platform) => {
      const fits = found.find(({ locked }) => locked.os !== undefined && fitsOn(locked, platform));
      return fits && `${fits.name}@${fits.locked.version} ${fits.locked.integrity ?? "without integrity"}`;
    };
    const byPlatform = Object.fromEntries(PLATFORMS.map((platform) => [platform, fitting(platform)])) as PlatformPackage["packages"];
    return byPlatform["linux-x64"] === undefined ? [] : [{ owner: path.replace(/^.*node_modules\//, ""), packages: byPlatform }];
  });
}

function fitsOn({ os, cpu, libc }: LockedPackage, platform: Platform): boolean {
  const [system = "", processor = ""] = platform.split("-");
  const allows = (field: string | readonly string[] | undefined, value: string) => field === undefined || [field].flat().includes(value);
  return allows(os, system) && allows(cpu, processor) && (system !== "linux" || allows(libc, "glibc"));
}
