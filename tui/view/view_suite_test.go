package view_test

import (
	"io"
	"testing"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/tui/view"
)

func TestView(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "view")
}

// theme is one for a terminal of a kind: "dark", "light" or "none".
func theme(kind string) view.Theme {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetHasDarkBackground(kind != "light")
	r.SetColorProfile(map[bool]termenv.Profile{true: termenv.ANSI256, false: termenv.Ascii}[kind != "none"])
	return view.NewTheme(r)
}
