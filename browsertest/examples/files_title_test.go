package examples

import "testing"

// The text of a question's title lies in its box at every width. A space that hangs out of it at the end of a line
// would make the question one that nobody can allow.
func TestFilesTitleInItsBox(t *testing.T) {
	t.Parallel()
	eachFiles(t, func(t *testing.T, p *opened) {
		const widths = `(() => {
			const ask = document.getElementById("ask"), title = document.getElementById("ask").shadowRoot.getElementById("ask-title"), range = document.createRange(), bad = [];
			ask.hidden = false;
			title.textContent = "Send to the MCP server every at 127.0.0.1:41907, for a prompt, and send a request to 127.0.0.1:41907?";
			for (let w = 200; w <= 700; w++) {
				title.style.width = w + "px";
				range.selectNodeContents(title);
				const text = range.getBoundingClientRect(), box = title.getBoundingClientRect();
				if (text.left < box.left - 1.5 || text.right > box.right + 1.5 || text.top < box.top - 1.5 || text.bottom > box.bottom + 1.5) bad.push(w);
			}
			title.style.width = "";
			ask.hidden = true;
			return bad.join();
		})()`
		if bad := eval[string](t, p, widths); bad != "" {
			t.Errorf("it is not in its box at the widths %s", bad)
		}
	})
}
