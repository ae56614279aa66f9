// Package benign_test certifies nodes that behave correctly in unusual ways. It certifies a node with each of these habits,
// and with combinations of them. No requirement may fail, and no requirement may warn except those that the table of habits names.
//
// "make benign" certifies a node with each habit alone, and with many combinations. "make test" gives each node twenty of the habits, so that
// every habit is covered, and draws fewer combinations, all in one process. RIN_BENIGN selects habits by name.
package benign_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestBenign(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "benign")
}
