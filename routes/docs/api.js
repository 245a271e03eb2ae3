// Shows the API description in the viewer, with a form for every call.
const place = document.getElementById("api");

// The viewer has a class for dark pages; this page follows the reader's system.
const dark = matchMedia("(prefers-color-scheme: dark)");
const followSystem = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", followSystem);
followSystem();

/** The viewer without its own head: the page says what this is, and there is one server, the one that serves it. */
function pageLayout({ React: { createElement } }) {
  const PageLayout = ({ getComponent, specSelectors }) => {
    const status = specSelectors.loadingStatus();
    // Until the document is there, and where it does not come, the viewer would say that there are no calls.
    const parts = status === "success" ? ["errors", "AuthorizeBtnContainer", "operations"] : ["errors"];
    const told = { failed: "They could not be loaded. Load the page again.", success: "" }[status] ??
      "Loading …";
    return createElement(
      "div",
      { className: "swagger-ui" },
      ...parts.map((name) => createElement(getComponent(name, true))),
      createElement("p", { role: "status" }, told),
    );
  };
  return { components: { PageLayout } };
}

globalThis.SwaggerUIBundle({
  domNode: place,
  url: place.dataset.document,
  plugins: [pageLayout],
  layout: "PageLayout",
  docExpansion: "list",
  defaultModelsExpandDepth: -1,
  // A token is never written into the browser's storage.
  persistAuthorization: false,
  tryItOutEnabled: true,
  // Nobody else is told of this address.
  validatorUrl: null,
});
