package main

import (
	"runtime/debug"
	"testing"

	. "github.com/onsi/gomega"
)

func TestIDs(t *testing.T) {
	g := NewWithT(t)
	info := &debug.BuildInfo{
		GoVersion: "go1.26.0", Main: debug.Module{Path: "example.org/a-1"},
		Deps:     []*debug.Module{{Path: "example.org/a/b-c"}, {Path: "example.org/a/b/c"}, {Path: "example.org/a"}, {Path: "archive"}, {Path: "DOCUMENT"}},
		Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "1f"}, {Key: "vcs.time", Value: "2026-01-01T00:00:00Z"}},
	}
	d, err := newDocument("rin.tar.gz", nil, info)
	g.Expect(err).NotTo(HaveOccurred())
	seen := map[string]string{documentID: "the document"}
	for _, p := range d.Packages {
		g.Expect(p.ID).To(MatchRegexp(`^SPDXRef-[A-Za-z0-9.-]+$`))
		g.Expect(seen).NotTo(HaveKey(p.ID), "%s has the id of %s", p.Name, seen[p.ID])
		seen[p.ID] = p.Name
	}
	g.Expect(seen).To(HaveLen(1+2+1+len(info.Deps)), "document, archive, main module, standard library, dependencies")
	var depends []string
	for _, r := range d.Relationships {
		if r.Type == "DEPENDS_ON" {
			g.Expect(seen[r.From]).To(Equal(info.Main.Path))
			depends = append(depends, seen[r.To])
		}
	}
	g.Expect(depends).To(Equal([]string{"stdlib", "example.org/a/b-c", "example.org/a/b/c", "example.org/a", "archive", "DOCUMENT"}))
}
