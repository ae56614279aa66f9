// Package cors lets the pages of other origins call a node (Fetch standard, "HTTP extensions"): preflights are answered, and browsers are
// told on every answer, errors and redirects among them, that the page may read it.
//
// Never with credentials: a node knows bearer tokens, which a page adds itself, and no cookies that a browser would add for it. That
// is why "*" may stand where a stricter node would repeat names.
package cors
