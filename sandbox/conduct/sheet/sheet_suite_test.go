package sheet_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestSheet(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "sheet")
}
