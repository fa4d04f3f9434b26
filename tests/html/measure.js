// What a browser has drawn of a report, as one JSON object, which is sent to the page around it.
"use strict";

function colour(text) {
    const parts = text.match(/[\d.]+/g).map(Number);
    return { rgb: parts.slice(0, 3), alpha: parts.length > 3 ? parts[3] : 1 };
}

// The relative luminance of WCAG 2.
function luminance(rgb) {
    const [r, g, b] = rgb.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a, b) {
    const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x);
    return (light + 0.05) / (dark + 0.05);
}

function background(element) {
    for (; element; element = element.parentElement) {
        const { rgb, alpha } = colour(getComputedStyle(element).backgroundColor);
        if (alpha === 1) return rgb;
    }
    return null;
}

function visible(element) {
    const box = element.getBoundingClientRect();
    return box.width > 1 && box.height > 1 && getComputedStyle(element).visibility === "visible";
}

function texts() {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) {
        const node = walker.currentNode, element = node.parentElement;
        if (!node.data.trim() || !visible(element) || element.closest("script, title, desc")) continue;
        const style = getComputedStyle(element);
        const ink = colour(element.closest("svg") ? style.fill : style.color).rgb;
        found.push({ text: node.data.trim().slice(0, 40), contrast: contrast(ink, background(element)) });
    }
    return found;
}

function box(element) {
    const { left, right, top, bottom, width } = element.getBoundingClientRect();
    return { left, right, top, bottom, width };
}

function tracks(figure) {
    return [...figure.querySelectorAll(".track > svg[role=img]")].map((svg) => ({
        title: svg.querySelector("title").textContent,
        description: svg.querySelector("desc").textContent,
        track: box(svg),
        bars: [...svg.querySelectorAll("rect.bar")].map(box),
        fills: [...svg.querySelectorAll(".bar")].map((bar) =>
            contrast(colour(getComputedStyle(bar).fill).rgb, background(svg))),
        whiskers: [...svg.querySelectorAll(".whisker")].map((whisker) => box(whisker.firstElementChild)),
        dots: [...svg.querySelectorAll("circle")].map(box),
        median: [...svg.querySelectorAll(".median")].map(box),
    }));
}

function figures() {
    return [...document.querySelectorAll("figure")].map((figure) => ({
        kind: figure.className.replace("chart ", ""),
        caption: figure.querySelector("figcaption").textContent,
        heading: figure.closest("section").querySelector("h2").textContent,
        tracks: tracks(figure),
        lines: [...figure.querySelectorAll("g.line")].map((line) =>
            [...line.querySelectorAll(".point")].map((point) => ({
                title: point.querySelector("title").textContent,
                ...box(point.querySelector("path")),
            }))),
    }));
}

// What sticks out of the window, but for what scrolls by itself and what is hidden from eyes.
function overflowing() {
    return [...document.querySelectorAll("body *")]
        .filter((element) => !element.closest(".scroll, pre, .skip, .hidden, script"))
        .filter((element) => visible(element))
        .filter((element) => box(element).right > innerWidth + 0.5 || box(element).left < -0.5)
        .map((element) => element.outerHTML.slice(0, 100));
}

// Labels of one axis that run into each other.
function colliding() {
    return [...document.querySelectorAll(".axis, .plot > svg")].flatMap((axis) => {
        const labels = [...axis.querySelectorAll("text")].filter(visible).map((text) => [text.textContent, box(text)]);
        return labels.flatMap(([one, a], i) => labels.slice(i + 1)
            .filter(([, b]) => a.left < b.right + 2 && b.left < a.right + 2 && a.top < b.bottom && b.top < a.bottom)
            .map(([other]) => `${one} and ${other}`));
    });
}

// What a key reaches gets the focus, is seen to have it, and shows what it says.
function unfocusable() {
    return [...document.querySelectorAll("[tabindex='0']")].filter((element) => {
        if (element.closest("details:not([open])")) return false;
        element.focus();
        const tip = element.parentElement.querySelector(":scope > .tip");
        return document.activeElement !== element || getComputedStyle(element).outlineStyle === "none" ||
            (tip && getComputedStyle(tip).display === "none");
    }).map((element) => element.outerHTML.slice(0, 100));
}

function requests() {
    return performance.getEntriesByType("resource").map((entry) => entry.name);
}

const measured = {
    title: document.title,
    scripts: document.scripts.length,
    images: document.images.length,
    width: innerWidth,
    scroll_width: document.scrollingElement.scrollWidth,
    paper: getComputedStyle(document.body).backgroundColor,
    figure_spacing: getComputedStyle(document.body).fontVariantNumeric,
    texts: texts(),
    figures: figures(),
    overflowing: overflowing(),
    colliding: colliding(),
    unfocusable: unfocusable(),
    requests: requests(),
};
parent.postMessage(JSON.stringify(measured), "*");
