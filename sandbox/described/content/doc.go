// Package content writes answers in the media types that a document describes them with: JSON, text, XML by the XML Object of OpenAPI, and for
// everything else a small file of the type.
package content
