package browser

import "fmt"

// The sources of input actions of WebDriver and WebDriver BiDi, which are the same.

func pointer(x, y float64, click bool) map[string]any {
	acts := []any{map[string]any{"type": "pointerMove", "x": int(x), "y": int(y), "duration": 0, "origin": "viewport"}}
	if click {
		acts = append(acts, map[string]any{"type": "pointerDown", "button": 0}, map[string]any{"type": "pointerUp", "button": 0})
	}
	return map[string]any{"type": "pointer", "id": "mouse", "parameters": map[string]string{"pointerType": "mouse"}, "actions": acts}
}

func typing(text string) map[string]any {
	acts := []any{}
	for _, r := range text {
		acts = append(acts, map[string]string{"type": "keyDown", "value": string(r)}, map[string]string{"type": "keyUp", "value": string(r)})
	}
	return map[string]any{"type": "key", "id": "keyboard", "actions": acts}
}

// webdriverKeys are WebDriver's code points for keys without a character.
var webdriverKeys = map[string]string{
	"Enter": "\ue007", "Tab": "\ue004", "Backspace": "\ue003", "Delete": "\ue017", "Escape": "\ue00c",
	"ArrowDown": "\ue015", "ArrowUp": "\ue013", "ArrowLeft": "\ue012", "ArrowRight": "\ue014",
	"Home": "\ue011", "End": "\ue010", "PageUp": "\ue00e", "PageDown": "\ue00f", "Space": " ", "Insert": "\ue016",
	"Control": "\ue009", "Shift": "\ue008", "Alt": "\ue00a", "Meta": "\ue03d",
	"F1": "\ue031", "F2": "\ue032", "F3": "\ue033", "F4": "\ue034", "F5": "\ue035", "F6": "\ue036",
	"F7": "\ue037", "F8": "\ue038", "F9": "\ue039", "F10": "\ue03a", "F11": "\ue03b", "F12": "\ue03c",
}

func pressing(key string) (map[string]any, error) {
	mods, name, err := splitKey(key)
	if err != nil {
		return nil, err
	}
	if v, ok := webdriverKeys[name]; ok {
		name = v
	}
	if len([]rune(name)) != 1 {
		return nil, fmt.Errorf("browser: key %q is unknown: use one character or a name such as Enter, Tab, ArrowDown", name)
	}
	acts := []any{}
	for _, m := range mods {
		acts = append(acts, map[string]string{"type": "keyDown", "value": webdriverKeys[m]})
	}
	acts = append(acts, map[string]string{"type": "keyDown", "value": name}, map[string]string{"type": "keyUp", "value": name})
	for i := len(mods) - 1; i >= 0; i-- {
		acts = append(acts, map[string]string{"type": "keyUp", "value": webdriverKeys[mods[i]]})
	}
	return map[string]any{"type": "key", "id": "keyboard", "actions": acts}, nil
}
