import { render } from "preact";

render(<p>ctascope view</p>, document.getElementById("page")!);
