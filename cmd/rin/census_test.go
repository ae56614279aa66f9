package main_test

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// maxRiddles is how many comment lines may match [riddle]. The words have honest uses, so the limit is not zero.
const maxRiddles = 60

// riddle matches words that often mark a comment that should be written again.
var riddle = regexp.MustCompile(`(?i)\b(is no|are none|none of|told|tells of|anew|stands|whoever|so that nobody|in a word)\b`)

// maxRiddleTitles is how many titles of tests may match [riddle] although they are not [honest].
const maxRiddleTitles = 5

// honest matches words of the list that a title may use: "if there is no second client" is plain English.
var honest = regexp.MustCompile(`(?i)\bthere (is no|are none)\b`)

// titles returns the literal titles of Ginkgo's nodes.
func titles(file *ast.File) []*ast.BasicLit {
	var found []*ast.BasicLit
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		name, ok := call.Fun.(*ast.Ident)
		title, isLiteral := call.Args[0].(*ast.BasicLit)
		if ok && isLiteral && title.Kind == token.STRING && slices.Contains([]string{"Describe", "Context", "When", "It", "DescribeTable", "Entry"}, name.Name) {
			found = append(found, title)
		}
		return true
	})
	return found
}

// census holds the size of the code, without the files of others.
type census struct {
	packages  map[string]bool // those with production code
	helpers   map[string]bool // those of testHelpers
	files     []int           // lines of each file, without tests
	riddles   []string        // "file:line: comment", tests included
	titles    []string        // "file:line: title" of tests that match riddle
	testLines int             // lines of tests and of their helpers
}

// isForeign reports whether a file is not rin's own code: test data, nodes and clients that others wrote, and scripts of the CI.
func isForeign(name string) bool {
	return strings.HasPrefix(name, ".ci/") || slices.ContainsFunc([]string{"/testdata/", "/test/firstcontact/round", "/test/clients/blind", "/test/clients/own/"},
		func(part string) bool { return strings.Contains(name, part) })
}

// testHelpers lists the packages that only tests import.
func testHelpers() []string { return []string{"cmd/rin/test", "conformance/conformancetest", testOnly} }

// takeCensus counts the Go files that git tracks below root.
func takeCensus(root string) (census, error) {
	c := census{packages: map[string]bool{}, helpers: map[string]bool{}}
	list := exec.Command("git", "ls-files", "*.go")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		return census{}, fmt.Errorf("list the files that git tracks: %w", err)
	}
	for _, name := range strings.Fields(string(out)) {
		if isForeign(name) {
			continue
		}
		source, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return census{}, err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, source, parser.ParseComments)
		if err != nil {
			return census{}, err
		}
		if ast.IsGenerated(file) {
			continue
		}
		lines := strings.Count(string(source), "\n")
		switch dir := filepath.Dir(name); {
		case strings.HasSuffix(name, "_test.go"):
			c.testLines += lines
		case slices.Contains(testHelpers(), dir):
			c.helpers[dir] = true
			c.testLines += lines
		default:
			c.packages[dir] = true
			c.files = append(c.files, lines)
		}
		for _, title := range titles(file) {
			text, _ := strconv.Unquote(title.Value)
			if riddle.MatchString(honest.ReplaceAllString(text, "")) {
				c.titles = append(c.titles, fmt.Sprintf("%s: %s", set.Position(title.Pos()), text))
			}
		}
		for _, group := range file.Comments {
			for _, comment := range group.List {
				if riddle.MatchString(comment.Text) {
					c.riddles = append(c.riddles, fmt.Sprintf("%s: %s", set.Position(comment.Pos()), comment.Text))
				}
			}
		}
	}
	slices.Sort(c.files)
	return c, nil
}

// write prints the table of `make census`. Each figure has three values: before the code moved into today's layout, the goal, and today.
func (c census) write(out *bufio.Writer) {
	total := 0
	for _, lines := range c.files {
		total += lines
	}
	upward := 0
	for _, p := range listPackages() {
		upward += len(orderViolations(p))
	}
	row := func(name string, before, reach, now any) {
		fmt.Fprintf(out, "  %-56s %10v %10v %10v\n", name, before, reach, now)
	}
	row("census of the production code", "at d6ded5f", "to reach", "now")
	row("packages, without those that only tests import", 80, 46, len(c.packages))
	row("packages that only tests import", "", "", len(c.helpers))
	row("files", 858, 420, len(c.files))
	row("lines in the median file, at least", 93, 140, c.files[len(c.files)/2])
	row("lines", 88300, 74000, total)
	row("lines of tests", "", "", c.testLines)
	row("imports against the order of the packages", 16, 0, upward)
	row("comments with words of a riddle, at most", 524, maxRiddles, len(c.riddles))
	row("titles of tests with such words, at most", "", maxRiddleTitles, len(c.titles))
	fmt.Fprint(out, `measured elsewhere:
  files that a new probe touches                           13, to reach 4: "Add a requirement" in conformance/README.md
  verifier calls for one request at the sandbox            up to 3, to reach 1: sandbox/middleware_test.go
  time of make test without cached results                 no slower than d6ded5f: by hand, both in turns on one machine
`)
	_ = out.Flush()
}

var _ = Describe("The census of the code", func() {
	It("finds comments and titles of tests in plain English", func() {
		root := filepath.Join("..", "..")
		if _, err := os.Stat(filepath.Join(root, ".git")); err != nil {
			Skip("only a git checkout lists the files of the project")
		}
		c, err := takeCensus(root)
		Expect(err).NotTo(HaveOccurred())
		if os.Getenv("RIN_CENSUS") != "" {
			c.write(bufio.NewWriter(os.Stdout))
		}
		Expect(len(c.riddles)).To(BeNumerically("<=", maxRiddles), strings.Join(c.riddles, "\n"))
		Expect(len(c.titles)).To(BeNumerically("<=", maxRiddleTitles), strings.Join(c.titles, "\n"))
	})
})
