declare module "*?worker&url" {
  /** Address of the bundled worker. */
  const url: string;
  export default url;
}
