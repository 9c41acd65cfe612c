package data

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// fromYAML returns a YAML value as a value that JSON can represent.
func fromYAML(v any) (any, error) {
	var err error
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			if v[k], err = fromYAML(v[k]); err != nil {
				return nil, err
			}
		}
		return v, nil
	case map[any]any:
		out := map[string]any{}
		for k, x := range v {
			if out[fmt.Sprint(k)], err = fromYAML(x); err != nil {
				return nil, err
			}
		}
		return out, nil
	case []any:
		for i := range v {
			if v[i], err = fromYAML(v[i]); err != nil {
				return nil, err
			}
		}
		return v, nil
	case int64:
		return big.NewInt(v), nil
	case uint64:
		return new(big.Int).SetUint64(v), nil
	case time.Time:
		if v.Hour()|v.Minute()|v.Second()|v.Nanosecond() == 0 {
			return v.Format("2006-01-02"), nil
		}
		return v.Format(time.RFC3339Nano), nil
	case nil, bool, int, float64, string:
		return v, nil
	}
	return nil, fmt.Errorf("a YAML value of the kind %T has no form in JSON", v)
}

// toYAML returns a JSON value for the YAML encoder. Numbers that are kept as text become YAML
// numbers.
func toYAML(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			out[k] = toYAML(x)
		}
		return out
	case []any:
		out := slices.Clone(v)
		for i := range out {
			out[i] = toYAML(out[i])
		}
		return out
	case *big.Int:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: v.String()}
	case json.Number:
		tag := "!!int"
		if strings.ContainsAny(v.String(), ".eE") {
			tag = "!!float"
		}
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: v.String()}
	}
	return v
}
