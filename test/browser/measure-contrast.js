// Runs in a page: the contrast of every text, by the formula of WCAG. Texts of a drawing stand on the fill of
// their bar, all others on the nearest ground that lets nothing shine through.
(() => {
  const painter = document.createElement("canvas").getContext("2d", { willReadFrequently: true });

  function colorOf(color) {
    painter.clearRect(0, 0, 1, 1);
    painter.fillStyle = color;
    painter.fillRect(0, 0, 1, 1);
    return [...painter.getImageData(0, 0, 1, 1).data];
  }

  function lightOf(color) {
    const [red, green, blue] = colorOf(color).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  }

  function groundOf(element) {
    const bar = element.matches(".tl-inside, .tl-glyph") ? element.parentElement.querySelector(".tl-run") : null;
    if (bar !== null) return getComputedStyle(bar).fill;
    for (let each = element; each !== null; each = each.parentElement) {
      const { backgroundColor } = getComputedStyle(each);
      if (colorOf(backgroundColor)[3] > 200) return backgroundColor;
    }
    return "white";
  }

  function hasText(element) {
    const holdsText = [...element.childNodes].some(
      ({ nodeType, textContent }) => nodeType === 3 && textContent.trim() !== "",
    );
    return holdsText && !element.matches("script, style, title, template") && element.getClientRects().length > 0;
  }

  return [...document.querySelectorAll("body *")].filter(hasText).map((element) => {
    const style = getComputedStyle(element);
    const lights = [element instanceof SVGElement ? style.fill : style.color, groundOf(element)].map(lightOf);
    const ratio = (Math.max(...lights) + 0.05) / (Math.min(...lights) + 0.05);
    return { text: element.textContent.slice(0, 40), ratio };
  });
})();
