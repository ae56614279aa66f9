package main_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// This file checks the architecture: which packages may import which, and what they may use.

const module = "github.com/rin-network/rin/"

// folders lists which top-level folders each top-level folder may import besides itself.
func folders() map[string][]string {
	return map[string][]string{
		"cmd":         {"tui", "sandbox", "conformance", "fixtures"},
		"tui":         {"conformance"},
		"sandbox":     {"fixtures"},
		"conformance": {},
		"fixtures":    {},
	}
}

// packageOrder lists the packages of each top-level folder from the top down: a package imports only packages below it in its list.
func packageOrder() map[string][]string {
	return map[string][]string{
		"cmd": {"cmd/rin", "cmd/rin/test"},
		"conformance": {
			"conformance/registry",        // the nodes of a whole registry, night after night
			"conformance/certificate",     // statements about a certification, and their verification
			"conformance",                 // the steps of a certification
			"conformance/conformancetest", // a fake node for its tests
			"conformance/suite/worker",
			"conformance/suite",
			"conformance/report",
			"conformance/verdict",
			"conformance/requirement",
			"conformance/probe",
			"conformance/tokenforge",
			"conformance/recorder",
			"conformance/target",
			"conformance/draw",
			"conformance/openapi/validate",
			"conformance/openapi",
			"conformance/evidence",
			"conformance/evidence/redact",
		},
		"fixtures": {"fixtures/generate", "fixtures/sample", "fixtures/vocabulary", "fixtures/model"},
		"sandbox": {
			"sandbox/sandboxtest",
			"sandbox/clienttest",
			"sandbox/control",
			"sandbox/configfile",
			"sandbox/recording",
			"sandbox", // the route table and the middleware
			"sandbox/mockapi",
			"sandbox/fault",
			"sandbox/spec",
			"sandbox/web",
			"sandbox/funding",
			"sandbox/auth",
			"sandbox/account/boltstore",
			"sandbox/account",
			"sandbox/clientrules",
			"sandbox/edge",
			"sandbox/devtls",
			"sandbox/content",
			"sandbox/address",
			"sandbox/journal",
		},
		"tui": {"tui", "tui/tuitest", "tui/plain", "tui/screen", "tui/flow", "tui/terminal", "tui/quiet"},
	}
}

// testOnly is the helper package of the tour's tests. It uses the sandbox, which the tour itself must not.
const testOnly = "tui/tuitest"

// pkg is the part of "go list" that these tests look at, for one package of this module.
type pkg struct {
	ImportPath string
	Name       string
	Doc        string
	Dir        string
	GoFiles    []string
	Imports    []string // of non-test files
	Deps       []string // direct and indirect imports, without tests

	TestImports, XTestImports []string // of the tests in the package, and of those in its _test package
}

// testImports returns the direct imports of the tests.
func (p pkg) testImports() []string { return slices.Concat(p.TestImports, p.XTestImports) }

// relPath returns the directory of the package below the module root.
func (p pkg) relPath() string { return strings.TrimPrefix(p.ImportPath, module) }

// folder returns the top-level folder of a path below the module root.
func folder(relPath string) string {
	top, _, _ := strings.Cut(relPath, "/")
	return top
}

// relPaths returns those import paths that belong to this module, relative to the module root.
func relPaths(imports []string) []string {
	var found []string
	for _, i := range imports {
		if relPath, ok := strings.CutPrefix(i, module); ok {
			found = append(found, relPath)
		}
	}
	return found
}

// listPackages returns all packages of the module that have production code.
func listPackages() []pkg {
	cmd := exec.Command("go", "list", "-json=ImportPath,Name,Doc,Dir,GoFiles,Imports,Deps,TestImports,XTestImports", "./...")
	cmd.Dir = filepath.Join("..", "..")
	out, err := cmd.Output()
	Expect(err).NotTo(HaveOccurred())
	var all []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return all
		}
		Expect(err).NotTo(HaveOccurred())
		if len(p.GoFiles) > 0 {
			all = append(all, p)
		}
	}
}

// reaches returns those dependencies that lie in one of the given directories or below it.
func reaches(deps []string, targets ...string) []string {
	return slices.DeleteFunc(relPaths(deps), func(relPath string) bool {
		return !slices.ContainsFunc(targets, func(t string) bool { return relPath == t || strings.HasPrefix(relPath, t+"/") })
	})
}

// orderViolations lists the imports of a package that point upwards in the order of its top-level folder.
func orderViolations(p pkg) []string {
	order := packageOrder()[folder(p.relPath())]
	own := slices.Index(order, p.relPath())
	if own < 0 {
		return []string{"the package is not in packageOrder"}
	}
	var offences []string
	for _, relPath := range relPaths(p.Imports) {
		if folder(relPath) == folder(p.relPath()) && slices.Index(order, relPath) < own {
			offences = append(offences, relPath)
		}
	}
	return offences
}

var _ = Describe("The architecture", func() {
	var all []pkg
	BeforeEach(func() {
		if len(all) == 0 {
			all = listPackages()
		}
	})
	// checkBelow checks the package in a directory and every package below it, and reports those with
	// offences.
	checkBelow := func(relPath string, offence func(pkg) []string) {
		GinkgoHelper()
		checked := 0
		offences := map[string][]string{}
		for _, p := range all {
			if relPath != "" && p.relPath() != relPath && !strings.HasPrefix(p.relPath(), relPath+"/") {
				continue
			}
			checked++
			if found := offence(p); len(found) > 0 {
				offences[p.relPath()] = found
			}
		}
		Expect(checked).To(BeNumerically(">", 0), "no package below %q", relPath)
		Expect(offences).To(BeEmpty())
	}
	imports := func(names ...string) func(pkg) []string {
		return func(p pkg) []string {
			return slices.DeleteFunc(slices.Clone(p.Imports), func(i string) bool { return !slices.Contains(names, i) })
		}
	}

	It("lets top-level folders import each other in one direction only", func() {
		checkBelow("", func(p pkg) []string {
			if p.relPath() == testOnly {
				return nil
			}
			allowed := append(folders()[folder(p.relPath())], folder(p.relPath()))
			return slices.DeleteFunc(relPaths(p.Imports), func(relPath string) bool { return slices.Contains(allowed, folder(relPath)) })
		})
	})

	It("lets the packages of a top-level folder import each other in one direction only", func() {
		checkBelow("", orderViolations)
		var existing []string
		for _, p := range all {
			existing = append(existing, p.relPath())
		}
		Expect(existing).To(ConsistOf(slices.Concat(slices.Collect(maps.Values(packageOrder()))...)), "packageOrder lists every package once")
	})

	It("has each package of a top-level folder in the map of its README.md, and each suite in that of cmd/rin/test", func() {
		inMap := func(readme string, names []string) {
			text, err := os.ReadFile(filepath.Join("..", "..", readme))
			Expect(err).NotTo(HaveOccurred())
			for _, name := range names {
				row := regexp.MustCompile(`(?m)^\|[^|]*` + "`" + regexp.QuoteMeta(name) + "`")
				Expect(row.Match(text)).To(BeTrue(), "%s has no row for %s", readme, name)
			}
		}
		for top, order := range packageOrder() {
			if top == "cmd" { // its one package is the command, which README.md of the module names
				continue
			}
			rooms := slices.DeleteFunc(slices.Clone(order), func(relPath string) bool { return relPath == top })
			for i := range rooms {
				rooms[i] = strings.TrimPrefix(rooms[i], top+"/")
			}
			inMap(path.Join(top, "README.md"), rooms)
		}
		entries, err := os.ReadDir("test")
		Expect(err).NotTo(HaveOccurred())
		var suites []string
		for _, e := range entries {
			if e.IsDir() {
				suites = append(suites, e.Name())
			}
		}
		inMap("cmd/rin/test/README.md", suites)
	})

	It("has a README.md of at most 130 lines, whose tasks have at most six lines of commands each", func() {
		text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
		Expect(err).NotTo(HaveOccurred())
		Expect(strings.Count(string(text), "\n")).To(BeNumerically("<=", 130))
		for _, commands := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllSubmatch(text, -1) {
			Expect(strings.Count(string(commands[1]), "\n")).To(BeNumerically("<=", 6), "%s", commands[1])
		}
	})

	It("keeps conformance apart from sandbox and fixtures, so that a shared type cannot hide a shared mistake", func() {
		checkBelow("conformance", func(p pkg) []string { return reaches(p.Deps, "sandbox", "fixtures") })
		checkBelow("sandbox", func(p pkg) []string { return reaches(p.Deps, "conformance") })
		checkBelow("fixtures", func(p pkg) []string { return reaches(p.Deps, "conformance", "sandbox") })
	})

	It("keeps the tests of conformance, sandbox and fixtures apart likewise: those that need several live under cmd/rin/test", func() {
		checkBelow("conformance", func(p pkg) []string { return reaches(p.testImports(), "cmd", "tui", "sandbox", "fixtures") })
		checkBelow("sandbox", func(p pkg) []string { return reaches(p.testImports(), "cmd", "tui", "conformance") })
		checkBelow("fixtures", func(p pkg) []string { return reaches(p.testImports(), "cmd", "tui", "conformance", "sandbox") })
	})

	It("keeps the tour apart from the sandbox: the command passes a function that starts one", func() {
		checkBelow("tui", func(p pkg) []string {
			if p.relPath() == testOnly { // only tests import it: see the next It
				return nil
			}
			return reaches(p.Deps, "sandbox", "fixtures")
		})
		checkBelow("tui", imports("net/http/httputil", "net"))
	})

	It("leaves the helpers of tests to tests", func() {
		checkBelow("", func(p pkg) []string { return reaches(p.Deps, testOnly, "cmd/rin/test") })
	})

	It("keeps judging free of network, processes, files and logs", func() {
		forbidden := imports("os", "os/exec", "net", "net/http", "log", "log/slog", module+"conformance/openapi/validate")
		checkBelow("conformance/requirement", forbidden)
		checkBelow("conformance/verdict", forbidden)
		checkBelow("conformance/report", forbidden)
	})

	It("keeps asking apart from judging", func() {
		for _, relPath := range []string{"conformance/probe", "conformance/recorder", "conformance/tokenforge", "conformance/evidence"} {
			checkBelow(relPath, func(p pkg) []string {
				return reaches(p.Deps, "conformance/requirement", "conformance/verdict", "conformance/report")
			})
		}
	})

	It("keeps Ginkgo and Gomega in the suite", func() {
		checkBelow("", func(p pkg) []string {
			if p.relPath() == "conformance/suite" {
				return nil
			}
			return slices.DeleteFunc(slices.Clone(p.Imports), func(i string) bool { return !strings.HasPrefix(i, "github.com/onsi/") })
		})
	})

	It("names packages after roles and documents each", func() {
		checkBelow("", func(p pkg) []string {
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

	// declarations returns the declarations at the top level of a package, with the names of their files.
	declarations := func(p pkg) map[ast.Decl]string {
		found := map[ast.Decl]string{}
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution|parser.ParseComments)
			Expect(err).NotTo(HaveOccurred())
			for _, d := range file.Decls {
				found[d] = name
			}
		}
		return found
	}

	It("has no init functions", func() {
		checkBelow("", func(p pkg) []string {
			var found []string
			for d, name := range declarations(p) {
				if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
					found = append(found, name)
				}
			}
			return found
		})
	})

	It("has no package-level state: a variable is an error, a pattern, an embedded file or a table of fixed length", func() {
		checkBelow("", func(p pkg) []string {
			if p.relPath() == "tui/quiet" { // it acts before main begins
				return nil
			}
			var found []string
			for d, name := range declarations(p) {
				if vars, ok := d.(*ast.GenDecl); ok && vars.Tok == token.VAR {
					for _, s := range vars.Specs {
						if spec := s.(*ast.ValueSpec); !isConstant(vars, spec) {
							found = append(found, name+": "+spec.Names[0].Name)
						}
					}
				}
			}
			return found
		})
	})
})

// isConstant reports whether a variable at the top level has a value that nothing changes.
func isConstant(vars *ast.GenDecl, spec *ast.ValueSpec) bool {
	for _, doc := range []*ast.CommentGroup{vars.Doc, spec.Doc} {
		if doc != nil && strings.Contains(doc.List[len(doc.List)-1].Text, "//go:embed ") {
			return true
		}
	}
	if spec.Names[0].Name == "_" { // the compiler checks that a type implements an interface
		return true
	}
	return len(spec.Values) > 0 && !slices.ContainsFunc(spec.Values, func(value ast.Expr) bool {
		switch v := value.(type) {
		case *ast.CallExpr:
			switch types.ExprString(v.Fun) {
			case "errors.New", "fmt.Errorf", "regexp.MustCompile", "[]byte":
				return false
			case "sync.OnceValue":
				return !isLazyPattern(v)
			}
		case *ast.CompositeLit:
			array, ok := v.Type.(*ast.ArrayType)
			return !ok || array.Len == nil
		}
		return true
	})
}

// isLazyPattern reports whether a call of sync.OnceValue compiles one pattern at its first use and does nothing else.
func isLazyPattern(once *ast.CallExpr) bool {
	compile, ok := once.Args[0].(*ast.FuncLit)
	if !ok {
		return false
	}
	for _, statement := range compile.Body.List {
		switch s := statement.(type) {
		case *ast.DeclStmt: // parts of the pattern
			if s.Decl.(*ast.GenDecl).Tok != token.CONST {
				return false
			}
		case *ast.ReturnStmt:
			call, ok := s.Results[0].(*ast.CallExpr)
			return ok && types.ExprString(call.Fun) == "regexp.MustCompile"
		default:
			return false
		}
	}
	return false
}
