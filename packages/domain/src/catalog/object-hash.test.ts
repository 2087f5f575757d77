import type { JsonValue } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { objectHash } from "./object-hash.js";

// Computed with the original Go library.
test.each<[string, string]>([
  ["1.5", "fZ0tJInuOnPG5ue4RGml9pfpAnk8u7O0scDaRrm0vew"],
  ["0.1", "no1FbrtIQeQfW_rNA-jr0yRix9iI0hXFHoHFH6K-8Nk"],
  ["-2.75", "3eU9jTw0wCaod8KBWE4F1qXBvmiOfSiHhDPZu_QP8T4"],
  ["1e300", "ZViF0mPIwrW6R9bZwf5HoclHsxtqOXGL0RgFaC61NBU"],
  ["5e-324", "bvLb6LbUoIW08hnkWA24nCNHVFsKmfYJ7NwUUTFtX6c"],
  ["0", "YBAdjJy5iEEUaOOJCVcfNX2qZ7_1p7Cj-a4pXNSroz0"],
  ["1", "8BrccyOQqwJNZAgOCxc_DuOhYQ773UzioTu_jZsmxjk"],
  ["0.5", "YtdMg7utACFgLJbMBFboPFXuOn-PCNGWX-f_sgG3YBQ"],
  ["null", "Gxax31OLoS3D-X7buFyqcFDUbBSBNCkP66gPgjbIPbk"],
  ["true", "fclvd2yEI-V6J4VImj-cQ_tudWh21q2anKxKpOcuwZM"],
  ['{"b":[1,"x",null],"a":{"ü":"<&>\\u2028"}}', "PmNRUJhcbAcwNfASCZnlHccWXx_4Z-BkVRNxK4FMUIs"],
  ["[]", "rKyGwOYJypBvYysOLazMsrd9IrBiHyDr7OGkg1uT9vA"],
  ["{}", "GKw-c0PwFokMUQ6T-TUmEWnZ4_VlQ2Qpgw-vCTT0-OQ"],
  ['""', "C_6TXnDDIcfKOvx1zg0MovmLVCLgCLsxwAxtfx8cCtY"],
])("the hash of %s equals Go's", (json, hash) => {
  expect(objectHash(JSON.parse(json) as JsonValue).toString("base64url")).toBe(hash);
});
