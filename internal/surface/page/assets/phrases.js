// The page's own sentences in its language. They stand here in English; {names} in them are values.

const { lang } = document.documentElement;

let phrases = {};
if (lang && lang !== "en") {
  try {
    phrases = (await import(`./phrases.${lang}.js`)).default;
  } catch { /* English is said where the translations cannot be had */ }
}

// tr says a sentence in the language of the page.
export function tr(english, values = {}) {
  return (phrases[english] ?? english).replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}
