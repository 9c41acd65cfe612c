package gate

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
)

// risk is a row of the table of risks.
type risk struct {
	when string // description of the effect
	is   func(s situation) bool
	risk protocol.Risk // empty is the capability's own risk
	why  string        // reason for the level
}

// risks returns the table. The first row that matches an effect gives its level. The documentation
// of [protocol.Risk] contains the same table for users.
func risks() []risk {
	return []risk{
		{"a tool that is not trusted", func(s situation) bool { return s.untrusted },
			protocol.RiskCritical, "nobody has checked that it does what it says"},
		{"content of a dangerous kind", func(s situation) bool { return s.writes() && s.known && len(fsaccess.Classify(s.Subject, s.data)) > 0 },
			protocol.RiskCritical, "a program runs when the file is opened"},
		{"content is lost", func(s situation) bool { return s.Capability == protocol.FSWrite && s.Destroys },
			protocol.RiskHigh, "what the question does not show can be in it, and without a journal it does not come back"},
		{"any file of a folder", func(s situation) bool { return s.writes() && s.Tree && s.Words == "" },
			protocol.RiskHigh, "the question cannot show which files change, or how"},
		{"a hidden file or folder", func(s situation) bool { return s.Capability == protocol.FSWrite && hidden(s.Subject) },
			protocol.RiskHigh, "programs read such files as settings, and the user seldom sees them"},
		{"a file that build tools run", func(s situation) bool { return s.writes() && buildFile(s.Subject) },
			protocol.RiskHigh, "the next build runs the commands in it"},
		{"a change that cannot be undone", func(s situation) bool { return s.Capability == protocol.FSWrite && s.there && !s.folder && !s.journal },
			protocol.RiskHigh, "the folder keeps no journal, so the old content is lost"},
		{"a file or a folder that is there", func(s situation) bool { return s.Capability == protocol.FSWrite && s.Op != protocol.OpMkdir && s.there },
			protocol.RiskMedium, "the question shows the change, and undo takes it back"},
		{"a new folder", func(s situation) bool { return s.Capability == protocol.FSWrite && s.Op == protocol.OpMkdir },
			protocol.RiskLow, "nothing is lost"},
		{"a new text file in an ordinary folder", func(s situation) bool { return s.writes() && s.known && text(s.data) },
			protocol.RiskLow, "nothing is lost, the question shows the content, and no program runs it"},
		{"a new file whose content is not shown", func(s situation) bool { return s.Capability == protocol.FSWrite },
			protocol.RiskMedium, "nothing is lost, but the question cannot show what is in it"},
		{"reading a file that is sent", func(s situation) bool { return s.Capability == protocol.FSRead && s.sent != "" },
			protocol.RiskMedium, "the content leaves this machine"},
		{"reading a file", func(s situation) bool { return s.Capability == protocol.FSRead },
			protocol.RiskLow, "nothing is lost, and nothing leaves this machine"},
		{"anything else", func(situation) bool { return true },
			"", "the capability's own level, see Capability.Risk"},
	}
}

func (s situation) writes() bool {
	return s.Capability == protocol.FSWrite && (s.Op == "" || s.Op == protocol.OpWrite)
}

func (s situation) risk() protocol.Risk {
	for _, r := range risks() {
		if r.is(s) {
			if r.risk != "" {
				return r.risk
			}
			break
		}
	}
	return s.Capability.Risk()
}

// hidden reports whether an element of a path begins with a dot.
func hidden(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), func(e string) bool { return len(e) > 1 && e[0] == '.' })
}

// buildFile reports whether a file of this name contains commands that a language's tools run when
// a project is built, tested or installed.
func buildFile(name string) bool {
	base := strings.ToLower(path.Base(name))
	for _, row := range []struct{ tool, names string }{
		{"GNU make manual, What Name to Give Your Makefile", "makefile gnumakefile *.mk *.mak"},
		{"just, Quick Start", "justfile"},
		{"go-task, Supported file names", "taskfile.yml taskfile.yaml taskfile.dist.yml taskfile.dist.yaml"},
		{"npm, scripts", "package.json"},
		{"Docker, Compose file reference", "dockerfile dockerfile.* containerfile compose.yml compose.yaml docker-compose.yml docker-compose.yaml"},
		{"pip, build system interface", "setup.py pyproject.toml noxfile.py tox.ini"},
		{"Cargo, build scripts", "build.rs cargo.toml"},
		{"CMake, cmake-language", "cmakelists.txt *.cmake"},
		{"Gradle, build script basics", "build.gradle build.gradle.kts settings.gradle settings.gradle.kts"},
		{"Maven, POM reference", "pom.xml"},
		{"MSBuild, targets", "*.csproj *.vbproj *.vcxproj *.targets *.props directory.build.props"},
		{"Ruby, rake and bundler", "rakefile gemfile *.gemspec"},
		{"Bazel, BUILD files", "build build.bazel workspace module.bazel"},
		{"Meson, reference manual", "meson.build"},
		{"Nix, shell and flakes", "flake.nix shell.nix default.nix"},
		{"Jenkins, Using a Jenkinsfile", "jenkinsfile"},
		{"Vagrant, Vagrantfile", "vagrantfile"},
		{"GitLab and other services", "procfile azure-pipelines.yml"},
	} {
		for pattern := range strings.FieldsSeq(row.names) {
			if ok, _ := path.Match(pattern, base); ok {
				return true
			}
		}
	}
	return false
}

// text reports whether data is UTF-8 text without control characters.
func text(data []byte) bool {
	return utf8.Valid(data) && !slices.ContainsFunc(data, func(b byte) bool { return b < ' ' && b != '\n' && b != '\t' && b != '\r' || b == 0x7f })
}
