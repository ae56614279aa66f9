package terminal

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestClipboard(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "clipboard")
}
