// The page's entry: it asks the server that sent it.
import { ServerSource } from "./server";
import { start } from "./start";

start(new ServerSource(), document.getElementById("page")!);
