//go:build unix

package firstcontact_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// framework is what a kind of node needs to run.
type framework struct {
	prefix  string   // of the node's framework
	program string   // that must be installed
	probe   []string // a command that succeeds where the framework is installed
	// manifest is the file in whose folder build runs, if nodes of the framework are built.
	manifest string
	build    []string
}

func frameworks() []framework {
	python := func(prefix, modules string) framework {
		return framework{prefix, "python3", []string{"python3", "-c", "import " + modules}, "gen.py", []string{"python3", "gen.py"}}
	}
	javascript := func(prefix, module string) framework {
		return framework{prefix: prefix, program: "node", probe: []string{"node", "-e", "require('" + module + "')"}}
	}
	packages := func(prefix string) framework { // with versions of its own
		return framework{prefix, "npm", []string{"node", "--version"}, "package.json", []string{"npm", "ci", "--silent"}}
	}
	java := func(prefix string) framework {
		return framework{prefix, "mvn", []string{"java", "-version"}, "pom.xml", []string{"mvn", "-q", "-DskipTests", "package"}}
	}
	return []framework{
		{"net/http", "go", []string{"go", "version"}, "go.mod", []string{"go", "build", "-o", "node", "."}},
		{"chi", "go", []string{"go", "version"}, "go.mod", []string{"go", "build", "-o", "node", "."}},
		{"echo", "go", []string{"go", "version"}, "go.mod", []string{"go", "build", "-o", "node", "."}},
		{"gin", "go", []string{"go", "version"}, "go.mod", []string{"go", "build", "-o", "node", "."}},
		{"fiber", "go", []string{"go", "version"}, "go.mod", []string{"go", "build", "-o", "node", "."}},
		{"huma", "go", []string{"go", "version"}, "go.mod", []string{"go", "build", "-o", "node", "."}},
		{"restful", "go", []string{"go", "version"}, "go.mod", []string{"go", "build", "-o", "node", "."}},
		{"httprouter", "go", []string{"go", "version"}, "go.mod", []string{"go", "build", "-o", "node", "."}},
		{"bunrouter", "go", []string{"go", "version"}, "go.mod", []string{"go", "build", "-o", "node", "."}},
		{"iris", "go", []string{"go", "version"}, "go.mod", []string{"go", "build", "-o", "node", "."}},
		{"hertz", "go", []string{"go", "version"}, "go.mod", []string{"go", "build", "-o", "node", "."}},
		{"gooauth2", "go", []string{"go", "version"}, "go.mod", []string{"go", "build", "-o", "node", "."}},
		{"fuego", "go", []string{"go", "version"}, "go.mod", []string{"go", "build", "-o", "node", "."}},
		{"fosite", "go", []string{"go", "version"}, "go.mod", []string{"go", "build", "-o", "node", "."}},
		{"gozero", "go", []string{"go", "version"}, "go.mod", []string{"go", "build", "-o", "node", "."}},
		{"oapi", "go", []string{"go", "version"}, "go.mod", []string{"go", "build", "-o", "node", "."}},
		{"gf", "go", []string{"go", "version"}, "go.mod", []string{"go", "build", "-o", "node", "."}},
		{"gorilla", "go", []string{"go", "version"}, "go.mod", []string{"go", "build", "-o", "node", "."}},
		{"php", "php", []string{"php", "-r", "exit(extension_loaded('pdo_sqlite') ? 0 : 1);"}, "gen.py", []string{"python3", "gen.py"}},
		python("flask", "flask, sqlalchemy, waitress"), python("fastapi", "fastapi, uvicorn, jwt, cryptography"), python("django", "django, rest_framework, waitress"), python("starlette", "starlette, uvicorn, jwt"),
		python("falcon", "falcon, waitress, jwt, cryptography"), python("tornado", "tornado, jwt, cryptography"), python("sanic", "sanic"), python("bottle", "bottle, waitress"), python("quart", "quart, hypercorn, sqlalchemy, jwt, cryptography"),
		python("aiohttp", "aiohttp, jwt, cryptography"), python("litestar", "litestar, uvicorn, jwt, cryptography"),
		python("ninja", "ninja, waitress"), python("connexion", "connexion, uvicorn, sqlalchemy, jwt, cryptography"), python("blacksheep", "blacksheep, uvicorn"),
		python("pyramid", "pyramid, waitress, sqlalchemy, jwt, cryptography"), python("apiflask", "apiflask, waitress, sqlalchemy, jwt"), python("cherrypy", "cherrypy, jwt, cryptography"),
		python("microdot", "microdot, jwt, cryptography"), python("restx", "flask_restx, waitress, jwt"), python("baize", "baize, uvicorn, jwt, cryptography"),
		python("klein", "klein, jwt, cryptography"), python("dot", "oauth2_provider, waitress"), python("authlib", "flask, authlib, waitress"),
		python("ravyn", "ravyn, uvicorn, sqlalchemy"), python("webpy", "web, cheroot, jwt, cryptography"),
		python("smorest", "flask_smorest, waitress"), python("cornice", "cornice, pyramid, waitress"),
		python("tp", "tastypie, oauth2_provider, waitress"), // with Django 4.2, so in an environment of its own
		python("eve", "eve, sqlalchemy, waitress, authlib"), python("emmett", "emmett55, emmett_core, granian"),
		javascript("express", "express"), javascript("fastify", "fastify"), javascript("koa", "koa"), javascript("hapi", "@hapi/hapi"),
		javascript("hono", "@hono/node-server"), javascript("restify", "restify"), javascript("polka", "polka"), javascript("h3", "h3"),
		javascript("tinyhttp", "@tinyhttp/app"), javascript("feathers", "@feathersjs/feathers"), javascript("moleculer", "moleculer-web"), javascript("nest", "@nestjs/core"),
		javascript("oauth2server", "@node-oauth/oauth2-server"), javascript("loopback", "@loopback/rest"), javascript("openapibackend", "openapi-backend"),
		java("spring"), java("javalin"), java("vertx"), java("jersey"), java("helidon"), java("mn"), java("dw"),
		packages("rc"), packages("sails"),
	}
}

// workshop holds copies of the writers' folders, in which their nodes are built and started.
type workshop struct {
	dir      string
	mu       sync.Mutex
	prepared map[string]error // by folder and framework
}

// errMissing is wrapped by the error of a framework that is not installed.
var errMissing = errors.New("not installed")

// prepare copies a folder once for each framework, and installs or builds what the node needs.
func (w *workshop) prepare(n node) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := strings.NewReplacer("/", "-", " ", "-", "(", "", ")", "").Replace(n.folder + "-" + n.Framework)
	dir := filepath.Join(w.dir, key)
	err, done := w.prepared[key]
	if !done {
		err = w.build(n, dir)
		w.prepared[key] = err
	}
	return dir, err
}

func (w *workshop) build(n node, dir string) error {
	if err := os.CopyFS(dir, os.DirFS(n.folder)); err != nil {
		return err
	}
	if err := linkModules(dir); err != nil {
		return err
	}
	for _, f := range frameworks() {
		if !strings.HasPrefix(strings.ToLower(n.Framework), f.prefix) {
			continue
		}
		if _, err := exec.LookPath(f.program); err != nil {
			return fmt.Errorf("%s: %w", f.program, errMissing)
		}
		probe := exec.Command(f.probe[0], f.probe[1:]...)
		probe.Dir, probe.Env = dir, environ()
		if probe.Run() != nil {
			return fmt.Errorf("%s: %w", f.prefix, errMissing)
		}
		below, err := filepath.Glob(filepath.Join(dir, "*", f.manifest))
		if err != nil {
			return err
		}
		for _, manifest := range append(below, filepath.Join(dir, f.manifest)) {
			if _, err := os.Stat(manifest); f.manifest == "" || err != nil {
				continue
			}
			build := exec.Command(f.build[0], f.build[1:]...) // as the inputs say under "setup"
			build.Dir, build.Env = filepath.Dir(manifest), append(os.Environ(), "GOWORK=off")
			if out, err := build.CombinedOutput(); err != nil {
				return fmt.Errorf("build %s: %w\n%s", n.folder, err, out)
			}
		}
	}
	return nil
}

// linkModules links the installed packages into a folder: ECMAScript modules do not look at NODE_PATH.
func linkModules(dir string) error {
	if installed := modules(); installed != "" {
		return os.Symlink(installed, filepath.Join(dir, "node_modules"))
	}
	return nil
}

// modules returns the folder of the installed JavaScript packages: the first one of NODE_PATH, else what "npm install" put beside this file; "" if it is missing.
func modules() string {
	dir, _, _ := strings.Cut(os.Getenv("NODE_PATH"), string(filepath.ListSeparator))
	if dir == "" {
		dir = "node_modules"
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	if _, err := os.Stat(dir); err != nil {
		return ""
	}
	return dir
}

// environ returns the environment of a node. Its JavaScript finds what "npm install" put beside this file.
func environ() []string {
	env := append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	if installed := modules(); installed != "" && os.Getenv("NODE_PATH") == "" {
		env = append(env, "NODE_PATH="+installed)
	}
	return env
}

// start starts a node in its folder and returns its port and a function that ends it.
func start(n node, dir string) (port string, stop func(), err error) {
	if port, err = freePort(); err != nil {
		return "", nil, err
	}
	var output bytes.Buffer
	cmd := exec.Command(n.Command[0], n.Command[1:]...)
	cmd.Dir, cmd.Env = dir, append(environ(), "PORT="+port)
	cmd.Stdout, cmd.Stderr = &output, &output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	stop = func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-ended
	}
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		select {
		case err := <-ended:
			return "", nil, fmt.Errorf("%s ended before it listened: %w\n%s", n.path(), err, output.String())
		default:
		}
		if conn, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
			_ = conn.Close()
			return port, stop, nil
		}
	}
	stop()
	return "", nil, fmt.Errorf("%s does not listen\n%s", n.path(), output.String())
}

// freePort returns a port of loopback that was free a moment ago; the nodes cannot choose one themselves.
func freePort() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	return port, err
}
