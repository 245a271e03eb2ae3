/// <reference lib="dom" />
// Passkeys: asks the service what to ask, asks the browser, and sends the form with the answer.

interface Begun {
  readonly options?: PublicKeyCredentialCreationOptionsJSON & PublicKeyCredentialRequestOptionsJSON;
  readonly error?: string;
}

document.addEventListener("click", (event) => {
  if (!(event.target instanceof Element)) return;
  const button = event.target.closest<HTMLButtonElement>("button[data-passkey]");
  if (button?.form) void usePasskey(button, button.form);
});

async function usePasskey(button: HTMLButtonElement, form: HTMLFormElement): Promise<void> {
  const needs = (button.dataset["needs"] ?? "").split(" ").filter((name) => name !== "");
  for (const name of needs) {
    const field = form.elements.namedItem(name);
    if (field instanceof HTMLInputElement && !field.reportValidity()) return;
  }
  tell(button, "");
  button.disabled = true;
  try {
    const answer = form.elements.namedItem("answer");
    if (!(answer instanceof HTMLInputElement)) return;
    answer.value = JSON.stringify(await ask(button, form));
    form.submit();
  } catch (error) {
    tell(button, wordsFor(error));
  } finally {
    button.disabled = false;
  }
}

async function ask(button: HTMLButtonElement, form: HTMLFormElement): Promise<unknown> {
  const response = await fetch(button.dataset["begin"] ?? "", {
    method: "POST",
    headers: { accept: "application/json" },
    body: new URLSearchParams(fieldsOf(form)),
  });
  const { options, error }: Begun = await response.json();
  if (!options) throw new Error(error ?? "Try again later");
  const { PublicKeyCredential } = globalThis;
  const credential = button.dataset["passkey"] === "create"
    ? await navigator.credentials.create({
      publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options),
    })
    : await navigator.credentials.get({
      publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options),
    });
  if (!(credential instanceof PublicKeyCredential)) throw new Error("The browser has given no passkey");
  return credential.toJSON();
}

/** What the service needs to begin; a password stays here. */
function fieldsOf(form: HTMLFormElement): [string, string][] {
  return [...new FormData(form)].flatMap(([name, value]): [string, string][] =>
    typeof value === "string" && ["csrf", "email", "name"].includes(name) ? [[name, value]] : []
  );
}

function wordsFor(error: unknown): string {
  if (!(error instanceof Error)) return "The browser could not use a passkey";
  if (error.name === "NotAllowedError") return "No passkey was used. Try again, or use the password";
  if (error.name === "InvalidStateError") return "This device has a passkey for this account already";
  if (error.name === "SecurityError") return "The browser has no passkeys for this address. Use the password";
  return error.message;
}

function tell(button: HTMLButtonElement, text: string): void {
  const place = button.parentElement?.querySelector("[data-passkey-problem]");
  if (place) place.textContent = text;
}
