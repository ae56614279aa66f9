package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/rin-network/rin/conformance/requirement"
)

func versionCommand(w world) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version of rin and of its catalogue",
		Example: "  rin version",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := io.WriteString(w.out, versions())
			return err
		},
	}
}

// versions are what a report of a fault should name.
func versions() string {
	return fmt.Sprintf("rin %s\ncatalogue %s (%d of %d requirements)\n%s %s/%s\n",
		version(), requirement.Version, len(requirement.Catalogue()), requirement.Size, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// version is the module version that the binary was built from, or "devel" from a work tree.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}
