// Package marks_test looks for what a node could recognise the suite by: whatever runs of different seeds send alike, and an ordinary client
// of the network would not send.
package marks_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestMarks(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "marks")
}
