// Package report tells people and machines what a certification found.
//
// [New] builds a versioned [Report] from a verdict and its evidence; it is a pure function, so the same evidence gives the same bytes in
// every format. One file holds one format: terminal, JSON, JUnit, HAR, HTML, Markdown. A format only shows; nothing is decided here.
//
// Rules for every format:
//
//   - The verdict stands where it is seen first (in the terminal last, next to the prompt), in words, with the notice
//     that it is a preview beside it for as long as it is one.
//   - Colour is never the only signal: each outcome has a symbol and a word.
//   - Everything that came from a node is hostile: [Plain] makes it visible and harmless, after that the format's own escaping
//     applies, and whatever can be long is cut with a note.
package report
