package tuitest_test

import (
	"fmt"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestTuitest(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "tuitest")
}

// faults is a testing.TB that records failures instead of failing the test.
type faults struct {
	testing.TB
	found []string
}

func (f *faults) Helper() {}

func (f *faults) Errorf(format string, args ...any) {
	f.found = append(f.found, fmt.Sprintf(format, args...))
}

func (f *faults) Fatalf(format string, args ...any) { f.Errorf(format, args...) }

// failures returns the failures that a check reports.
func failures(check func(testing.TB)) []string {
	f := &faults{TB: GinkgoTB()}
	check(f)
	return f.found
}
