export { natsFixture, postgresFixture, type ServerFixture } from "./servers.js";
