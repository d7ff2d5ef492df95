import CGTK
import Halcyon

/// The sliders and switches that set the picture's processors.
@MainActor final class Adjustments {
    let widget: Widget
    /// Called when the user changes a control.
    var onChange: (@MainActor () -> Void)?

    private struct Values {
        var (blur, brightness, contrast, saturation) = (0.0, 0.0, 1.0, 1.0)
        var (sepia, invert, round, mirrored) = (false, false, false, false)
    }

    private var values = Values()
    private var controls: [@MainActor () -> Void] = []
    private var isResetting = false

    init() {
        let section = Make.section("Processors", [])
        widget = section
        slider("Blur", 0...30, \.blur, step: 1)
        slider("Brightness", -0.5...0.5, \.brightness, step: 0.05)
        slider("Contrast", 0...2, \.contrast, step: 0.1)
        slider("Saturation", 0...2, \.saturation, step: 0.1)
        check("Sepia", \.sepia)
        check("Invert", \.invert)
        check("Round corners", \.round)
        check("Mirrored", \.mirrored)
        gtk_box_append(
            section.cast(),
            Make.button("Reset") { [weak self] in
                self?.reset()
                self?.onChange?()
            })
    }

    /// The processors, in a sensible order.
    var processors: [any ImageProcessor] {
        var processors: [any ImageProcessor] = []
        if values.mirrored { processors.append(.flip(.horizontal)) }
        if values.blur > 0 { processors.append(.blur(radius: values.blur)) }
        if (values.brightness, values.contrast, values.saturation) != (0, 1, 1) {
            processors.append(
                .colorControls(
                    brightness: values.brightness, contrast: values.contrast, saturation: values.saturation))
        }
        if values.sepia { processors.append(.sepia()) }
        if values.invert { processors.append(.invert) }
        if values.round { processors.append(.roundCorners(radius: 40)) }
        return processors
    }

    /// Resets all controls without calling `onChange`.
    func reset() {
        values = Values()
        isResetting = true
        for control in controls { control() }
        isResetting = false
    }

    private func slider(
        _ title: String, _ range: ClosedRange<Double>, _ value: WritableKeyPath<Values, Double>, step: Double
    ) {
        let slider = Make.slider(range, step: step, at: values[keyPath: value]) { [weak self] in
            self?.set(value, $0)
        }
        controls.append { [weak self] in
            if let self { gtk_range_set_value(slider.cast(), self.values[keyPath: value]) }
        }
        gtk_box_append(widget.cast(), Make.row(title, slider))
    }

    private func check(_ title: String, _ value: WritableKeyPath<Values, Bool>) {
        let check = Make.check(title) { [weak self] in self?.set(value, $0) }
        controls.append { [weak self] in
            if let self { gtk_check_button_set_active(check.cast(), self.values[keyPath: value] ? 1 : 0) }
        }
        gtk_box_append(widget.cast(), check)
    }

    private func set<Value>(_ path: WritableKeyPath<Values, Value>, _ value: Value) {
        guard !isResetting else { return }
        values[keyPath: path] = value
        onChange?()
    }
}
