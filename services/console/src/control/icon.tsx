import styles from "./icon.module.css";

/** Outlines in a square of 16. */
const PATHS = {
  home: "M2.500 7.500 8 2.800l5.500 4.700M4 6.500V13h3V9.500h2V13h3V6.500",
  run: "M5 3v10l8-5z",
  flow: "M2.500 2.500h4.500v3.500H2.500zM9 10h4.500v3.500H9zM4.700 6v5.800H9",
  rocket:
    "M6 10 4.500 8.500C5.500 5 8.500 2.500 13 3c.5 4.500-2 7.500-5.500 8.500zM4.800 8.200 2.500 8.600 4 6.300h2M7.800 11.200l-.4 2.300 2.300-1.500v-2M10 6h.01",
  clock: "M8 2.500a5.500 5.500 0 1 0 0 11 5.500 5.500 0 0 0 0-11zM8 5v3.200l2 1.300",
  calendar: "M2.800 3.800h10.400v9.400H2.800zM2.800 6.800h10.400M5.500 2.300v3M10.500 2.300v3",
  box: "m8 2 5.500 3v6L8 14l-5.500-3V5zM2.700 5.100 8 8l5.300-2.900M8 8v5.800",
  search: "M7 2.700a4.300 4.300 0 1 0 0 8.600 4.300 4.300 0 0 0 0-8.600zM10.200 10.200l3.300 3.300",
  chevronRight: "m6 3.500 4.500 4.500L6 12.500",
  chevronDown: "M3.500 6 8 10.500 12.500 6",
  chevrons: "m5 6 3-3 3 3M5 10l3 3 3-3",
  copy: "M5.500 5.500h7.500V13H5.500zM3 10.500V3h7.500",
  repeat: "M13 8a5 5 0 1 1-1.600-3.700M13 2.500v2.700h-2.700",
  stop: "M3.800 3.800h8.400v8.400H3.800z",
  sun: "M8 5.300a2.700 2.700 0 1 0 0 5.400 2.700 2.700 0 0 0 0-5.400zM8 1.800v1.400M8 12.800v1.400M1.800 8h1.400M12.800 8h1.400M3.600 3.600l1 1M11.400 11.400l1 1M3.600 12.400l1-1M11.400 4.600l1-1",
  moon: "M13 9.700A5.500 5.500 0 0 1 6.300 3a5.500 5.500 0 1 0 6.700 6.700z",
  screen: "M2.500 3h11v7.500h-11zM6 13.300h4M8 10.500v2.800",
  person: "M8 2.800a2.500 2.500 0 1 0 0 5 2.500 2.500 0 0 0 0-5zM3 13.500c.4-2.600 2.500-4 5-4s4.600 1.400 5 4",
  bolt: "M9 2 3.800 9H7.500L7 14l5.200-7H8.500z",
  close: "m4 4 8 8M12 4l-8 8",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  check: "m3.500 8.500 3 3 6-7",
  more: "M3.500 8h.01M8 8h.01M12.500 8h.01",
  server: "M2.500 3h11v4h-11zM2.500 9h11v4h-11zM5 5h.01M5 11h.01",
  tag: "M2.800 2.800h5l5.400 5.400-5 5-5.400-5.400zM5.500 5.500h.01",
  branch: "M4.500 4v8M4.500 8.500c4 0 6.500-.5 6.500-3.500M4.500 2.500h.01M4.500 13.500h.01M11 3.500h.01",
  warn: "M8 2.500 14 13H2zM8 6.500v3M8 11.300h.01",
  external: "M7 3.500H3.500v9h9V9M9.500 2.800h3.700v3.700M13 3 7.500 8.500",
  wrap: "M2.500 4h11M2.500 8h8.500a2 2 0 0 1 0 4H7.500M9 10.300 7.300 12 9 13.700M2.500 12h2.500",
  download: "M8 2.500v7.500M4.800 7 8 10.200 11.200 7M3 13.200h10",
  expand: "M9.800 2.800h3.400v3.400M13 3 9.500 6.500M6.200 13.200H2.800V9.800M3 13l3.500-3.500",
  up: "M3.500 10 8 5.500 12.500 10",
  end: "M3.800 3 8 7.200 12.200 3M3.800 7.500 8 11.700l4.200-4.200M3 14h10",
  keyboard: "M1.800 4h12.400v8H1.800zM4 6.500h.01M6.700 6.500h.01M9.300 6.500h.01M12 6.500h.01M5 9.500h6",
} as const;

export type IconName = keyof typeof PATHS;

interface IconProps {
  readonly name: IconName;
  readonly small?: boolean;
}

/** Icon beside a text, or in a button with a label: assistive technology does not see it. */
export function Icon({ name, small = false }: IconProps) {
  return (
    <svg className={small ? styles.small : styles.icon} viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
