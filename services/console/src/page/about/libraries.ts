/** Library or font that the console contains. */
export interface Library {
  readonly name: string;
  readonly licence: string;
}

/** Third-party content of the console's files; a test compares it with the packages. */
export const LIBRARIES: readonly Library[] = [
  { name: "@base-ui/react", licence: "MIT" },
  { name: "@fontsource-variable/inter", licence: "OFL-1.1" },
  { name: "@fontsource-variable/jetbrains-mono", licence: "OFL-1.1" },
  { name: "@tanstack/react-query", licence: "MIT" },
  { name: "@tanstack/react-router", licence: "MIT" },
  { name: "@tanstack/react-virtual", licence: "MIT" },
  { name: "react", licence: "MIT" },
  { name: "react-dom", licence: "MIT" },
];
