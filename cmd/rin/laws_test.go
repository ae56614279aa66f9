package main_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// The laws of the architecture: which way the arrows go. A law that is broken here was broken on purpose, or by accident.

const module = "github.com/rin-network/rin/"

// ground is what tests of the tour stand on.
const ground = "tui/tuitest"

// pkg is what go list says of one package of this module.
type pkg struct {
	ImportPath string
	Name       string
	Doc        string
	Dir        string
	GoFiles    []string
	Imports    []string // of non-test files
	Deps       []string // all that it reaches, without tests
}

func (p pkg) room() string { return strings.TrimPrefix(p.ImportPath, module) }

func packages() []pkg {
	cmd := exec.Command("go", "list", "-json=ImportPath,Name,Doc,Dir,GoFiles,Imports,Deps", "./...")
	cmd.Dir = filepath.Join("..", "..")
	out, err := cmd.Output()
	Expect(err).NotTo(HaveOccurred())
	var all []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else {
			Expect(err).NotTo(HaveOccurred())
		}
		if len(p.GoFiles) > 0 {
			all = append(all, p)
		}
	}
}

// reaches lists what of the given rooms a package depends on.
func reaches(deps []string, rooms ...string) []string {
	return slices.DeleteFunc(slices.Clone(deps), func(dep string) bool {
		room := strings.TrimPrefix(dep, module)
		return room == dep || !slices.ContainsFunc(rooms, func(r string) bool { return room == r || strings.HasPrefix(room, r+"/") })
	})
}

var _ = Describe("The laws", func() {
	all := []pkg{}
	BeforeEach(func() {
		if len(all) == 0 {
			all = packages()
		}
	})
	// each checks every package below a room and names those that break the law.
	each := func(room string, offence func(pkg) []string) {
		GinkgoHelper()
		var looked int
		offences := map[string][]string{}
		for _, p := range all {
			if room != "" && p.room() != room && !strings.HasPrefix(p.room(), room+"/") {
				continue
			}
			looked++
			if found := offence(p); len(found) > 0 {
				offences[p.room()] = found
			}
		}
		Expect(looked).To(BeNumerically(">", 0), "no package below %q", room)
		Expect(offences).To(BeEmpty())
	}
	imports := func(names ...string) func(pkg) []string {
		return func(p pkg) []string {
			return slices.DeleteFunc(slices.Clone(p.Imports), func(i string) bool { return !slices.Contains(names, i) })
		}
	}

	It("keep conformance apart from sandbox and fixtures: a shared type would hide a shared mistake", func() {
		each("conformance", func(p pkg) []string { return reaches(p.Deps, "sandbox", "fixtures") })
		each("sandbox", func(p pkg) []string { return reaches(p.Deps, "conformance") })
		each("fixtures", func(p pkg) []string { return reaches(p.Deps, "conformance", "sandbox") })
	})

	It("keep the tour apart from the sandbox, which it is handed a function to start", func() {
		each("tui", func(p pkg) []string {
			if p.room() == ground { // nobody but a test reaches it: the next law
				return nil
			}
			return reaches(p.Deps, "sandbox", "fixtures")
		})
		each("tui", imports("net/http/httputil", "net"))
	})

	It("leave what tests stand on to tests: it knows sandbox and conformance both", func() {
		each("", func(p pkg) []string { return reaches(p.Deps, ground) })
	})

	It("keep judging free of the world", func() {
		world := imports("os", "os/exec", "net", "net/http", "log", module+"conformance/openapi/validate")
		each("conformance/requirement", world)
		each("conformance/verdict", world)
		each("conformance/report", world)
	})

	It("keep asking apart from judging", func() {
		for _, room := range []string{"conformance/probe", "conformance/recorder", "conformance/evidence"} {
			each(room, func(p pkg) []string {
				return reaches(p.Deps, "conformance/requirement", "conformance/verdict", "conformance/report")
			})
		}
	})

	It("keep Ginkgo and Gomega in the suite", func() {
		each("", func(p pkg) []string {
			if p.room() == "conformance/suite" {
				return nil
			}
			return slices.DeleteFunc(slices.Clone(p.Imports), func(i string) bool { return !strings.HasPrefix(i, "github.com/onsi/") })
		})
	})

	It("name packages after roles and say what each is for", func() {
		each("", func(p pkg) []string {
			var faults []string
			if slices.Contains([]string{"util", "utils", "common", "helpers", "misc"}, path.Base(p.ImportPath)) {
				faults = append(faults, "a name without a role")
			}
			if p.Doc == "" {
				faults = append(faults, "no package comment")
			}
			return faults
		})
	})

	It("leave nothing to init functions", func() {
		each("", func(p pkg) []string {
			var found []string
			for _, name := range p.GoFiles {
				file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
				Expect(err).NotTo(HaveOccurred())
				for _, d := range file.Decls {
					if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
						found = append(found, name)
					}
				}
			}
			return found
		})
	})
})
