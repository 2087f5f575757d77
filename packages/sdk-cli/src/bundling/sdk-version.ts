/** Version of the packages that make bundles, which are released together. */
export const SDK_VERSION = "0.1.0";
