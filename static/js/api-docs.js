// Shows the description of the API, and lets its operations be tried, by the session or a token.

const root = /** @type {HTMLElement} */ (document.getElementById("api"));
const { SwaggerUIBundle } = /** @type {any} */ (globalThis);

SwaggerUIBundle({
  domNode: root,
  url: root.dataset.schema,
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  // Nothing is asked of another host.
  validatorUrl: null,
  requestInterceptor: (/** @type {any} */ request) => {
    request.headers["X-CSRFToken"] = root.dataset.csrf;
    return request;
  },
  onComplete: () => {
    root.dataset.state = "shown";
  },
});
