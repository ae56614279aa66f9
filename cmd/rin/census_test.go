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
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// maxRiddles is how many comment lines may match [riddle]. The words have honest uses, so the limit is not zero.
const maxRiddles = 60

// riddle matches words that often mark a comment that should be written again.
var riddle = regexp.MustCompile(`(?i)\b(is no|are none|none of|told|tells of|anew|stands|whoever|so that nobody|in a word)\b`)

// census is the size of the code, without test data, the nodes of the first-contact rounds and generated files.
type census struct {
	packages  map[string]int // lines of each package, without tests
	files     []int          // lines of each file, without tests
	riddles   []string       // "file:line: comment", tests included
	testLines int            // lines of tests
}

// takeCensus counts the Go files that git tracks below root.
func takeCensus(root string) (census, error) {
	c := census{packages: map[string]int{}}
	list := exec.Command("git", "ls-files", "*.go")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		return census{}, fmt.Errorf("list the files that git tracks: %w", err)
	}
	for _, name := range strings.Fields(string(out)) {
		if strings.Contains(name, "/testdata/") || strings.Contains(name, "/firstcontact/round") { // nodes that others wrote
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
		if strings.HasSuffix(name, "_test.go") {
			c.testLines += lines
		} else {
			c.packages[filepath.Dir(name)] += lines
			c.files = append(c.files, lines)
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

// write prints the table of `make census`.
func (c census) write(out *bufio.Writer) {
	total := 0
	for _, lines := range c.files {
		total += lines
	}
	row := func(name string, value int) { fmt.Fprintf(out, "  %-58s %7d\n", name, value) }
	fmt.Fprintln(out, "census of the production code")
	row("packages", len(c.packages))
	row("files", len(c.files))
	row("lines in the median file", c.files[len(c.files)/2])
	row("lines", total)
	row("lines of tests", c.testLines)
	upward := 0
	for _, p := range listPackages() {
		upward += len(orderViolations(p))
	}
	row("imports against the order of the packages (must be 0)", upward)
	row(fmt.Sprintf("comments with words of a riddle (at most %d)", maxRiddles), len(c.riddles))
	_ = out.Flush()
}

var _ = Describe("The census of the code", func() {
	It("finds comments in plain English", func() {
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
	})
})
