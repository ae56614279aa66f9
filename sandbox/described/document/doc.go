// Package document reads an OpenAPI 3.0 or 3.1 document, JSON or YAML, and gives its operations as plain data.
//
// The document may be anybody's: its size, depth, aliases and operations are bounded, references stay inside it, and nothing that it names is
// ever opened. What is wrong with the whole is an error; what is wrong with one operation is said there, so that the others can be used.
package document
