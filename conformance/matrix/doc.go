// Package matrix holds the kill matrix: which deviations of a node the suite was seen to notice, and by which requirement. A
// certificate is worth what the suite would have caught, so the score stands in every report. The matrix is measured where sandbox and
// suite meet, in cmd/rin/mutants; this package keeps the last measurement, counts it and prints it.
//
// MATRIX.md is the recorded matrix as a document, with the titles of the catalogue.
package matrix

//go:generate env RIN_WRITE_MATRIX=1 go test -count 1 .
