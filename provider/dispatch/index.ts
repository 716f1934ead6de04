import { provider } from "./provider";

export { provider };
