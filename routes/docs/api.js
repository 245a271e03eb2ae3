// Shows the API description in the viewer, with a form for every call.
const place = document.getElementById("api");

globalThis.SwaggerUIBundle({
  domNode: place,
  url: place.dataset.document,
  docExpansion: "list",
  defaultModelsExpandDepth: -1,
  // A token is never written into the browser's storage.
  persistAuthorization: false,
  tryItOutEnabled: true,
  // Nobody else is told of this address.
  validatorUrl: null,
});
